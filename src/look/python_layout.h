#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "look/remote_memory.h"

namespace whystop {

/// Where the things that make up a Python stack stand in the memory of one version of CPython.
/// Offsets in bytes. From 3.13 on the interpreter publishes them itself; for 3.9 to 3.12 they are
/// those of its headers on 64-bit machines, the same for every patch release.
struct PythonLayout {
  int minor = 0;
  bool free_threaded = false;           // Built without the GIL.
  std::uint64_t interpreters_head = 0;  // Of _PyRuntime.
  std::uint64_t finalizing = 0;
  std::uint64_t gil_locked = 0;  // Of _PyRuntime below 3.12, of *interpreter.gil in 3.12, then of
  std::uint64_t gil_holder = 0;  // the interpreter.
  std::uint64_t gil = 0;         // 3.12: of the interpreter, a pointer.
  std::uint64_t interpreter_next = 0;
  std::uint64_t threads_head = 0;
  std::uint64_t thread_next = 0;
  std::uint64_t thread_id = 0;         // pthread_self()
  std::uint64_t native_thread_id = 0;  // 0: this version does not keep it.
  std::uint64_t thread_frame = 0;  // The current frame; 3.11 and 3.12: of the C frame in between.
  std::uint64_t c_frame_current = 0;
  std::uint64_t frame_back = 0;
  std::uint64_t frame_code = 0;
  std::uint64_t frame_instruction = 0;
  std::uint64_t frame_owner = 0;  // 0: frames have none.
  std::uint64_t frame_locals = 0;
  std::uint64_t frame_globals = 0;
  std::uint64_t code_file = 0;
  std::uint64_t code_name = 0;
  std::uint64_t code_first_line = 0;
  std::uint64_t code_lines = 0;
  std::uint64_t code_locals = 0;        // How many.
  std::uint64_t code_instructions = 0;  // 3.11 on: the code itself is part of the object.
  std::uint64_t object_head = 16;       // What every object begins with: references and type.
  std::uint64_t ascii_bytes = 0;        // Size of a string's head, by its kind.
  std::uint64_t compact_bytes = 0;
};

/// The layout of 3.9 to 3.12; nullopt: another version.
std::optional<PythonLayout> LayoutOfVersion(int minor);

/// The layout of the interpreter whose _PyRuntime is at `runtime`. `minor_by_name` is what the
/// names of its files say, for versions that do not tell it themselves.
std::optional<PythonLayout> ReadLayout(const RemoteMemory& memory, std::uint64_t runtime,
                                       std::optional<int> minor_by_name);

/// Whether the interpreter at `runtime` publishes that it was built without the GIL.
bool IsFreeThreaded(const RemoteMemory& memory, std::uint64_t runtime);

/// "libpython3.11.so.1.0", "python3.9": 11, 9.
std::optional<int> MinorInName(std::string_view path);

}  // namespace whystop

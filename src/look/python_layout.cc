#include "look/python_layout.h"

#include <array>
#include <cstring>

#include "base/parse.h"

namespace whystop {
namespace {

constexpr PythonLayout kLayouts[] = {
    {.minor = 9, .interpreters_head = 32, .finalizing = 16, .gil_locked = 368, .gil_holder = 360,
     .interpreter_next = 0, .threads_head = 8, .thread_next = 8, .thread_id = 176,
     .thread_frame = 24, .frame_back = 24, .frame_code = 32, .frame_instruction = 104,
     .frame_locals = 360, .frame_globals = 48, .code_file = 104, .code_name = 112,
     .code_first_line = 40, .code_lines = 120, .code_locals = 28, .ascii_bytes = 48,
     .compact_bytes = 72},
    {.minor = 10, .interpreters_head = 32, .finalizing = 16, .gil_locked = 368, .gil_holder = 360,
     .interpreter_next = 0, .threads_head = 8, .thread_next = 8, .thread_id = 176,
     .thread_frame = 24, .frame_back = 24, .frame_code = 32, .frame_instruction = 96,
     .frame_locals = 352, .frame_globals = 48, .code_file = 104, .code_name = 112,
     .code_first_line = 40, .code_lines = 120, .code_locals = 28, .ascii_bytes = 48,
     .compact_bytes = 72},
    {.minor = 11, .interpreters_head = 40, .finalizing = 24, .gil_locked = 376, .gil_holder = 368,
     .interpreter_next = 0, .threads_head = 16, .thread_next = 8, .thread_id = 152,
     .native_thread_id = 160, .thread_frame = 56, .c_frame_current = 8, .frame_back = 48,
     .frame_code = 32, .frame_instruction = 56, .frame_owner = 69, .frame_locals = 72,
     .frame_globals = 8, .code_file = 112, .code_name = 128, .code_first_line = 72,
     .code_lines = 136, .code_locals = 76, .code_instructions = 184, .ascii_bytes = 48,
     .compact_bytes = 72},
    {.minor = 12, .interpreters_head = 40, .finalizing = 24, .gil_locked = 16, .gil_holder = 8,
     .gil = 384, .interpreter_next = 0, .threads_head = 72, .thread_next = 8, .thread_id = 136,
     .native_thread_id = 144, .thread_frame = 56, .c_frame_current = 0, .frame_back = 8,
     .frame_code = 0, .frame_instruction = 56, .frame_owner = 70, .frame_locals = 72,
     .frame_globals = 24, .code_file = 112, .code_name = 128, .code_first_line = 68,
     .code_lines = 136, .code_locals = 72, .code_instructions = 192, .ascii_bytes = 40,
     .compact_bytes = 56},
};

/// Which entry of the published table is what: it grows from version to version.
struct PublishedTable {
  int minor;
  std::size_t finalizing, interpreters_head, interpreter_next, threads_head, gil_locked, gil_holder;
  std::size_t thread_next, thread_frame, thread_id, native_thread_id;
  std::size_t frame_back, frame_code, frame_instruction, frame_locals, frame_owner;
  std::size_t code_file, code_name, code_lines, code_first_line, code_instructions;
  std::size_t object_head;
};
constexpr PublishedTable kPublished[] = {
    {.minor = 13, .finalizing = 4, .interpreters_head = 5, .interpreter_next = 8, .threads_head = 9,
     .gil_locked = 17, .gil_holder = 18, .thread_next = 21, .thread_frame = 23, .thread_id = 24,
     .native_thread_id = 25, .frame_back = 29, .frame_code = 30, .frame_instruction = 31,
     .frame_locals = 32, .frame_owner = 33, .code_file = 35, .code_name = 37, .code_lines = 38,
     .code_first_line = 39, .code_instructions = 43, .object_head = 44},
    {.minor = 14, .finalizing = 4, .interpreters_head = 5, .interpreter_next = 8, .threads_head = 9,
     .gil_locked = 18, .gil_holder = 19, .thread_next = 24, .thread_frame = 26, .thread_id = 27,
     .native_thread_id = 28, .frame_back = 32, .frame_code = 33, .frame_instruction = 34,
     .frame_locals = 35, .frame_owner = 36, .code_file = 40, .code_name = 42, .code_lines = 43,
     .code_first_line = 44, .code_instructions = 48, .object_head = 50},
    {.minor = 15, .finalizing = 4, .interpreters_head = 5, .interpreter_next = 8, .threads_head = 9,
     .gil_locked = 18, .gil_holder = 19, .thread_next = 24, .thread_frame = 26, .thread_id = 30,
     .native_thread_id = 31, .frame_back = 40, .frame_code = 41, .frame_instruction = 42,
     .frame_locals = 43, .frame_owner = 44, .code_file = 48, .code_name = 50, .code_lines = 51,
     .code_first_line = 52, .code_instructions = 56, .object_head = 58},
};

constexpr std::size_t kPublishedWords = 59;
using PublishedWords = std::array<std::uint64_t, kPublishedWords>;
constexpr std::size_t kFreeThreaded = 2;

std::optional<PublishedWords> ReadPublished(const RemoteMemory& memory, std::uint64_t runtime) {
  const auto words = memory.Value<PublishedWords>(runtime);
  const bool is_table = words && std::memcmp(words->data(), "xdebugpy", sizeof(std::uint64_t)) == 0;
  return is_table ? words : std::nullopt;
}

PythonLayout FromPublished(const PublishedTable& table, const PublishedWords& words) {
  PythonLayout out;
  out.minor = table.minor;
  out.finalizing = words[table.finalizing];
  out.interpreters_head = words[table.interpreters_head];
  out.interpreter_next = words[table.interpreter_next];
  out.threads_head = words[table.threads_head];
  out.gil_locked = words[table.gil_locked];
  out.gil_holder = words[table.gil_holder];
  out.thread_next = words[table.thread_next];
  out.thread_frame = words[table.thread_frame];
  out.thread_id = words[table.thread_id];
  out.native_thread_id = words[table.native_thread_id];
  out.frame_back = words[table.frame_back];
  out.frame_code = words[table.frame_code];
  out.frame_instruction = words[table.frame_instruction];
  out.frame_locals = words[table.frame_locals];
  out.frame_owner = words[table.frame_owner];
  out.code_file = words[table.code_file];
  out.code_name = words[table.code_name];
  out.code_lines = words[table.code_lines];
  out.code_first_line = words[table.code_first_line];
  out.code_instructions = words[table.code_instructions];
  out.free_threaded = words[kFreeThreaded] != 0;
  out.object_head = words[table.object_head];
  // Not published, and the same in all these versions.
  out.frame_globals = 24;
  out.code_locals = out.code_first_line + sizeof(std::int32_t);
  constexpr std::uint64_t kLengthHashAndState = 24, kUtf8 = 16;
  out.ascii_bytes = out.object_head + kLengthHashAndState;
  out.compact_bytes = out.ascii_bytes + kUtf8;
  return out;
}

}  // namespace

std::optional<PythonLayout> LayoutOfVersion(int minor) {
  for (const PythonLayout& layout : kLayouts) {
    if (layout.minor == minor) {
      return layout;
    }
  }
  return std::nullopt;
}

std::optional<PythonLayout> ReadLayout(const RemoteMemory& memory, std::uint64_t runtime,
                                       std::optional<int> minor_by_name) {
  const auto words = ReadPublished(memory, runtime);
  if (!words) {
    return minor_by_name ? LayoutOfVersion(*minor_by_name) : std::nullopt;
  }
  constexpr int kMinorShift = 16;  // PY_VERSION_HEX: 0x030D00F0
  const int minor = static_cast<int>((*words)[1] >> kMinorShift & 0xff);
  // From 3.14 on each thread of a build without the GIL has its own copy of the code: not tried.
  constexpr int kLastFreeThreaded = 13;
  if ((*words)[kFreeThreaded] != 0 && minor > kLastFreeThreaded) {
    return std::nullopt;
  }
  for (const PublishedTable& table : kPublished) {
    if (table.minor == minor) {
      return FromPublished(table, *words);
    }
  }
  return std::nullopt;
}

bool IsFreeThreaded(const RemoteMemory& memory, std::uint64_t runtime) {
  const auto words = ReadPublished(memory, runtime);
  return words && (*words)[kFreeThreaded] != 0;
}

std::optional<int> MinorInName(std::string_view path) {
  constexpr std::string_view kStem = "python3.";
  const std::size_t at = path.rfind(kStem);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = path.substr(at + kStem.size());
  std::size_t digits = 0;
  while (digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9') {
    ++digits;
  }
  return ParseWhole<int>(rest.substr(0, digits));
}

}  // namespace whystop

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"

namespace whystop {

/// What the kernel says of a crash: "train[42]: segfault at 0 ip 55e3c8a0b1c4 sp 7ffd... error 6 in train[1234,55e3c8a0a000+8000]".
struct KernelCrash {
  std::int64_t pid = 0;
  std::string_view module;  // The file's name alone, cut to what the kernel keeps.
  std::uint64_t instruction = 0;
  std::uint64_t mapped_at = 0;
  std::uint64_t mapped_bytes = 0;
  std::optional<std::uint64_t> file_offset;  // Newer kernels tell it.
};
std::optional<KernelCrash> ParseKernelCrash(std::string_view line);

/// Adds to the stream where in the source a crash lies: behind the kernel's line an Observation "crash-place", read off the
/// program's own symbols. A program that was built anew since the run began says nothing about it.
class CrashPlaces {
 public:
  explicit CrashPlaces(EventSink& out) : out_(out) {}
  void Push(const Event& event);

 private:
  void Take(const KernelCrash& crash, RunTime at);
  std::optional<std::string> PathOf(const KernelCrash& crash) const;

  EventSink& out_;
  RunStart start_;
  std::vector<ProcessStart> processes_;  // Those whose command names a program by its path.
};

}  // namespace whystop

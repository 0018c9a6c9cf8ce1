#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cause/cause.h"
#include "model/process_look.h"

namespace whystop {

/// What the watcher saw of a job that stood still, and was not seen to move again.
struct HangFacts {
  std::string how;  // "waiting", "busy", "sleeping", "stopped"
  double silence_s = 0;
  bool attached = false;  // Known for as long as the looks took, and no longer.
  std::string limit_reason;
  std::string last_sign;
  std::vector<ProcessLook> processes;
  struct Stepped {
    std::int64_t pid = 0;
    std::int64_t step = 0;
  };
  std::vector<Stepped> steps;  // By process, also of those that are gone.

  const ProcessLook* Find(std::int64_t pid) const;
  /// The process that trains, as far as can be told: the one that made steps, a rank, the first
  /// Python.
  const ProcessLook* Trainer() const;
  std::vector<const ProcessLook*> Ranks() const;  // Those of a job of several, by rank.
};

/// Nullopt: no standstill is on record, or the job went on.
std::optional<HangFacts> ReadHang(const CaseFile& run);

/// The job hangs now, or hung until somebody ended it.
bool HungToTheEnd(const CaseFile& run);

/// Which hang it is, and what shows it.
struct HangKind {
  std::string_view cause;
  const ProcessLook* where = nullptr;  // The process that holds up the others.
  std::string text;                    // What it waits for.
  bool certain = true;
};
HangKind ClassifyHang(const HangFacts& hang);

/// "train.py:12 in main: `answer = input()`"
std::string PlaceText(const Frame& frame);

}  // namespace whystop

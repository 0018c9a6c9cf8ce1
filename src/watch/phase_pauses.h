#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// What a run is about, as far as it shows: these, or the words of the probe and of the client library ("eval").
inline constexpr std::string_view kStartPhase = "start";    // Nothing was seen yet.
inline constexpr std::string_view kOutputPhase = "output";  // Lines come, and nobody tells of steps.
inline constexpr std::string_view kTrainPhase = "train";    // Steps are made.
inline constexpr std::string_view kCheckpointPhase = "checkpoint";

/// How long a run may be silent before it is worth a look, and why that long.
struct SilenceLimit {
  std::chrono::nanoseconds waiting{};  // For a run that does nothing at all...
  std::chrono::nanoseconds busy{};     // ...and for one that computes in the same place all the time.
  std::string reason;                  // "10 times its usual pause of 30 s"
};

/// The pauses of a run in one of its phases, and how long the next one may be: an evaluation of ten minutes is
/// waited for again, and says nothing about how long a step may take.
class PhasePauses {
 public:
  void Add(std::chrono::nanoseconds pause);
  SilenceLimit Limit(std::string_view phase) const;

 private:
  std::chrono::nanoseconds Usual() const;

  std::vector<std::chrono::nanoseconds> newest_;  // A ring.
  std::size_t next_ = 0;
  std::chrono::nanoseconds longest_{};
};

}  // namespace whystop

#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "look/main_thread.h"
#include "model/event.h"
#include "watch/progress_watch.h"

namespace whystop {

/// Ranks that train together make their steps together, whoever is slow. Who it is shows where they
/// are meanwhile: the others wait in the exchange, one does not. Looks at the main threads of all
/// ranks of this machine, seldom, and at most once a step: a long evaluation of one rank counts as one.
class RankWatch {
 public:
  /// How long to wait for the next look; nullopt: there are no ranks to look at.
  std::optional<std::chrono::nanoseconds> Due(const ProgressWatch& progress,
                                              std::chrono::nanoseconds now) const;

  /// Looks, if it is time to.
  void LookIfDue(const ProgressWatch& progress, std::chrono::nanoseconds now);

  /// What was seen so far, an observation a rank; empty where it is hardly more than at the last call.
  /// `at_the_end` asks for all there is.
  std::vector<Observation> Tell(bool at_the_end);

 private:
  struct Place {
    Frame frame;
    std::int64_t times = 0;
  };
  struct Rank {
    explicit Rank(pid_t pid) : thread(pid) {}
    MainThread thread;
    int rank = 0;
    std::int64_t looks = 0;
    std::int64_t waiting = 0;
    std::map<std::string, std::int64_t> exchanges;
    std::map<std::string, Place> places;  // By file and line.
    Frame last;
  };
  static void Count(const ThreadLook& look, Rank& rank);

  std::map<std::int64_t, Rank> ranks_;  // By process.
  std::int64_t last_step_ = 0;          // At the last look: the furthest of all ranks.
  std::chrono::nanoseconds last_at_{};
  std::chrono::nanoseconds pause_{std::chrono::milliseconds(100)};
  std::int64_t looks_ = 0;
  std::int64_t told_ = 0;  // How many looks there were when it was told of last.
};

}  // namespace whystop

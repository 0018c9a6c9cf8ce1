#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/case_file.h"

namespace whystop {

/// Several processes train together.
bool HasSeveralRanks(const CaseFile& run);

/// "rank 3: " where the job has several, else nothing.
std::string RankPrefix(const CaseFile& run, std::optional<int> rank);

/// What the launcher says of the process that failed first: "failed (exitcode: -9) local_rank: 1
/// (pid: 4711)".
struct FirstFailure {
  std::int64_t status = 0;  // Negative: the number of the signal that ended it.
  std::int64_t local_rank = 0;
  std::int64_t process = 0;
  std::optional<int> rank;  // Of the whole job, by the probe.
};
std::optional<FirstFailure> FindFirstFailure(const CaseFile& run);

/// An exception that is nobody's echo ended a process of the job.
bool SomeRankRaised(const CaseFile& run);

/// Where a process was as far as is known from before it ended: the last look of the watcher, or
/// the loop that it was in, and its last step. Empty: nothing is known.
struct LastPlace {
  std::string text;
  Place place;
};
LastPlace LastPlaceOf(const CaseFile& run, std::int64_t process);

/// Where the ranks were while they trained, by the watcher's looks; the newest of each, by rank.
struct RankPlaces {
  int rank = 0;
  std::int64_t process = 0;
  double looks = 0;
  double waiting = 0;    // Looks at which it waited in an exchange with the others.
  std::string exchange;  // The call, "all_reduce".
  double there = 0;      // Looks at which it was at `frame`, its most frequent place otherwise.
  Frame frame;
  Frame last;
};
std::vector<RankPlaces> ReadRankPlaces(const CaseFile& run);

}  // namespace whystop

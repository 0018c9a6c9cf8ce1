#include "watch/phase_pauses.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"

namespace whystop {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kPausesKept = 101;

// A choice: no run that was looked at did nothing at all for so long between two steps or lines and
// went on, but for waits that its author had asked for. At the start programs wait for downloads and for others,
// in an evaluation for a judge or a simulator, and a checkpoint for the storage to take it all.
constexpr seconds kFloor{120};
constexpr seconds kLongFloor{300};
// One call that computes for minutes is ordinary (a decomposition, a sort, a tree being built).
constexpr seconds kBusyFloor{1800};
// A choice: how many times its usual pace, and its longest pause so far, a run may take.
constexpr int kTimesUsual = 10;
constexpr int kTimesLongest = 3;

/// Steps and lines have a pace. A phase of another kind comes now and then, and ends once.
bool HasPace(std::string_view phase) { return phase == kTrainPhase || phase == kOutputPhase; }

}  // namespace

void PhasePauses::Add(nanoseconds pause) {
  longest_ = std::max(longest_, pause);
  if (newest_.size() < kPausesKept) {
    newest_.push_back(pause);
  } else {
    newest_[next_++ % kPausesKept] = pause;
  }
}

nanoseconds PhasePauses::Usual() const {
  std::vector<nanoseconds> sorted = newest_;
  std::sort(sorted.begin(), sorted.end());
  return sorted.empty() ? nanoseconds(0) : sorted[sorted.size() / 2];
}

SilenceLimit PhasePauses::Limit(std::string_view phase) const {
  const nanoseconds usual = HasPace(phase) ? Usual() : nanoseconds(0);
  const nanoseconds learned = std::max(usual * kTimesUsual, longest_ * kTimesLongest);
  const bool is_known = phase == kTrainPhase || (phase == kOutputPhase && !newest_.empty());
  const seconds floor = is_known ? kFloor : kLongFloor;
  const std::string where = HasPace(phase) ? "" : fmt::format(" in its phase \"{}\"", phase);
  SilenceLimit limit{std::max<nanoseconds>(learned, floor), std::max<nanoseconds>(learned, kBusyFloor), {}};
  if (learned <= floor) {
    limit.reason = fmt::format("{} of doing nothing{}", HumanDuration(floor), where);
  } else if (usual * kTimesUsual >= longest_ * kTimesLongest) {
    limit.reason = fmt::format("{} times its usual pause of {}", kTimesUsual, HumanDuration(usual));
  } else {
    limit.reason = fmt::format("{} times its longest pause{} so far, {}", kTimesLongest, where, HumanDuration(longest_));
  }
  return limit;
}

}  // namespace whystop

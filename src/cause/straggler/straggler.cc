#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "cause/evidence.h"
#include "cause/hang_facts.h"
#include "cause/hang_weighers.h"
#include "cause/rank_facts.h"

namespace whystop {
namespace {

constexpr double kLooksMin = 24;
constexpr double kShareMin = 0.25;   // What the others wait more than the slow one, of the time.
constexpr double kDeviations = 4;    // How far beyond chance that must be.
constexpr std::int64_t kStepsMin = 20;
constexpr double kTimesAsLong = 1.5;  // Steps of one rank against the others', where nobody waits.

double Share(const RankPlaces& rank) { return rank.looks > 0 ? rank.waiting / rank.looks : 0; }

/// Standard deviation of a share that was seen so many times; never taken for zero.
double Deviation(const RankPlaces& rank) {
  const double share = (rank.waiting + 1) / (rank.looks + 2);
  return std::sqrt(share * (1 - share) / rank.looks);
}

/// Who waits least, if all the others wait for it: by the looks at all ranks while they trained.
void WeighByPlaces(const CaseFile& run, Hypothesis& out) {
  std::vector<RankPlaces> ranks = ReadRankPlaces(run);
  if (ranks.size() < 2 || std::any_of(ranks.begin(), ranks.end(), [](const RankPlaces& rank) {
        return rank.looks < kLooksMin;
      })) {
    return;
  }
  std::sort(ranks.begin(), ranks.end(),
            [](const RankPlaces& a, const RankPlaces& b) { return Share(a) < Share(b); });
  const RankPlaces& slow = ranks[0];
  const RankPlaces& next = ranks[1];
  const double difference = Share(next) - Share(slow);
  const double chance = std::hypot(Deviation(slow), Deviation(next));
  if (difference < kShareMin || difference < kDeviations * chance) {
    return;
  }
  out.Add(Supports("look", fmt::format("the other ranks waited for rank {} in their exchange ({}) at {:.0f} % of the looks, "
                                       "rank {} itself waited at {:.0f} %",
                                       slow.rank, next.exchange, 100 * Share(next), slow.rank, 100 * Share(slow))));
  Evidence place = Supports("stack", fmt::format("rank {} (process {}) was meanwhile at {}, at {:.0f} of {:.0f} looks",
                                                 slow.rank, slow.process, PlaceText(slow.frame), slow.there,
                                                 slow.looks));
  place.place = {slow.frame.file, slow.frame.line};
  out.Add(std::move(place));
}

double SecondsAStep(const ProcessSteps& steps) {
  return std::chrono::duration<double>(steps.last_at - steps.first_at).count() /
         static_cast<double>(steps.last - steps.first);
}

/// Ranks that do not wait for each other at every step: one makes its steps more slowly.
void WeighBySteps(const CaseFile& run, Hypothesis& out) {
  std::vector<ProcessSteps> ranks;
  for (const ProcessSteps& one : run.steps) {
    if (one.rank) {
      ranks.push_back(one);
    }
  }
  if (ranks.size() < 2 || std::any_of(ranks.begin(), ranks.end(), [](const ProcessSteps& rank) {
        return rank.last - rank.first < kStepsMin || rank.last_at <= rank.first_at;
      })) {
    return;
  }
  std::sort(ranks.begin(), ranks.end(), [](const ProcessSteps& a, const ProcessSteps& b) {
    return SecondsAStep(a) > SecondsAStep(b);
  });
  if (SecondsAStep(ranks[0]) < kTimesAsLong * SecondsAStep(ranks[1])) {
    return;
  }
  out.Add(Supports("series", fmt::format("rank {} takes {:.3g} s a step, the others {:.3g} s and less", *ranks[0].rank,
                                         SecondsAStep(ranks[0]), SecondsAStep(ranks[1]))));
  if (const LastPlace last = LastPlaceOf(run, ranks[0].process); !last.text.empty()) {
    Evidence place = Supports("stack", fmt::format("rank {}: {}", *ranks[0].rank, last.text));
    place.place = last.place;
    out.Add(std::move(place));
  }
}

}  // namespace

void WeighStraggler(const CaseFile& run, Hypothesis& out) {
  WeighByPlaces(run, out);
  if (out.evidence().empty()) {
    WeighBySteps(run, out);
  }
}

}  // namespace whystop

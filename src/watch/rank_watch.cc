#include "watch/rank_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace whystop {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr std::size_t kRanksMax = 64;   // Of one machine: more GPUs than any has.
constexpr std::size_t kPlacesMax = 64;  // Of one rank.
// Often at first, for runs of seconds; then ever more seldom, for those of days.
constexpr nanoseconds kPauseMax = seconds(20);
constexpr std::int64_t kStepsToBegin = 3;  // The first steps warm up.

void Put(const Frame& frame, const std::string& prefix, Observation& out) {
  out.attributes[prefix + "file"] = frame.file;
  out.attributes[prefix + "line"] = static_cast<double>(frame.line);
  out.attributes[prefix + "function"] = frame.function;
}

template <typename Map, typename TimesOf>
auto MostOften(const Map& counted, TimesOf times_of) {
  return std::max_element(counted.begin(), counted.end(), [&](const auto& a, const auto& b) {
    return times_of(a.second) < times_of(b.second);
  });
}

}  // namespace

std::optional<nanoseconds> RankWatch::Due(const ProgressWatch& progress, nanoseconds now) const {
  const auto ranks = std::count_if(progress.steps().begin(), progress.steps().end(),
                                   [](const auto& one) { return one.second.rank.has_value(); });
  if (ranks < 2 || progress.FurthestStep() < kStepsToBegin) {
    return std::nullopt;
  }
  return std::max(nanoseconds(0), last_at_ + pause_ - now);
}

void RankWatch::LookIfDue(const ProgressWatch& progress, nanoseconds now) {
  const auto due = Due(progress, now);
  const std::int64_t furthest = progress.FurthestStep();
  if (!due || due->count() > 0 || furthest <= last_step_) {
    return;
  }
  last_step_ = furthest;
  last_at_ = now;
  pause_ = std::min<nanoseconds>(pause_ + pause_ / 16, kPauseMax);
  ++looks_;
  for (const auto& [pid, stepped] : progress.steps()) {
    if (!stepped.rank || (ranks_.size() >= kRanksMax && !ranks_.contains(pid))) {
      continue;
    }
    auto& rank = ranks_.try_emplace(pid, static_cast<pid_t>(pid)).first->second;
    rank.rank = *stepped.rank;
    if (const auto look = rank.thread.Look()) {
      Count(*look, rank);
    }
  }
}

void RankWatch::Count(const ThreadLook& look, Rank& rank) {
  ++rank.looks;
  const Frame* own = InnermostOwn(look.frames);
  rank.last = own != nullptr ? *own : look.frames.back();
  // A backward pass computes as well as exchanging: only who stands still in it waits.
  const auto exchange = ExchangeOf(look);
  if (exchange && (look.state == 'S' || look.state == 'D')) {
    ++rank.waiting;
    ++rank.exchanges[*exchange];
    return;
  }
  const std::string key = fmt::format("{}:{}", rank.last.file, rank.last.line);
  if (rank.places.size() < kPlacesMax || rank.places.contains(key)) {
    Place& place = rank.places[key];
    place.frame = rank.last;
    ++place.times;
  }
}

std::vector<Observation> RankWatch::Tell(bool at_the_end) {
  std::vector<Observation> told;
  if (looks_ == told_ || (!at_the_end && looks_ < told_ + told_ / 2 + 16)) {
    return told;
  }
  told_ = looks_;
  for (const auto& [pid, rank] : ranks_) {
    Observation out;
    out.kind = "rank-places";
    out.rank = rank.rank;
    auto& attributes = out.attributes;
    attributes["pid"] = static_cast<double>(pid);
    attributes["looks"] = static_cast<double>(rank.looks);
    attributes["waiting"] = static_cast<double>(rank.waiting);
    const auto exchange =
        MostOften(rank.exchanges, [](std::int64_t times) { return times; });
    if (exchange != rank.exchanges.end()) {
      attributes["exchange"] = exchange->first;
    }
    const auto place = MostOften(rank.places, [](const Place& one) { return one.times; });
    if (place != rank.places.end()) {
      attributes["there"] = static_cast<double>(place->second.times);
      Put(place->second.frame, "", out);
      attributes["source"] = place->second.frame.source;
    }
    if (!rank.last.file.empty()) {
      Put(rank.last, "last_", out);
    }
    told.push_back(std::move(out));
  }
  return told;
}

}  // namespace whystop

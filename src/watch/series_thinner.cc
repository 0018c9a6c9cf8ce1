#include "watch/series_thinner.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace whystop {
namespace {

constexpr std::size_t kFew = 4;  // Things of a kind from the start of a window, and as many from its end.
constexpr std::size_t kOnceMax = 65536;

}  // namespace

void SeriesThinner::Let(Number number) {
  const auto found = needed_.find(number);
  if (found != needed_.end() && --found->second == 0) {
    needed_.erase(found);
    points_.erase(number);
  }
}

void SeriesThinner::Add(SeriesPoint point, const Taker& take) {
  const std::int64_t window = point.at.count() / window_.count();
  if (window > current_) {  // What comes late stays in the window that is open.
    Flush(take);
    current_ = window;
  }
  if (point.keep == SeriesPoint::Keep::kOnce &&
      (once_.size() >= kOnceMax || !once_.insert(point.key).second)) {
    return;
  }
  Series& series = series_[point.key];
  const bool few = point.keep == SeriesPoint::Keep::kFew;
  const Number number = next_++;
  points_.emplace(number, std::move(point));
  Need(number);  // While we look at it.
  if (series.first.size() < (few ? kFew : 1)) {
    Need(number);
    series.first.push_back(number);
  } else {
    Need(number);
    series.last.push_back(number);
    if (series.last.size() > (few ? kFew : 1)) {
      Let(series.last.front());
      series.last.erase(series.last.begin());
    }
  }
  if (!few) {
    TakeExtremes(series, number);
  }
  Let(number);
}

void SeriesThinner::TakeExtremes(Series& series, Number number) {
  const auto move = [this](Number& from, Number to) {
    Need(to);
    Let(std::exchange(from, to));
  };
  const std::vector<double>& values = points_.at(number).values;
  series.extremes.resize(std::max(series.extremes.size(), values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Extremes& extremes = series.extremes[i];
    if (!std::isfinite(values[i])) {
      if (!std::exchange(extremes.any_odd, true)) {
        extremes.odd_first = extremes.odd_last = number;
        Need(number);
        Need(number);
      } else {
        move(extremes.odd_last, number);
      }
    } else if (!std::exchange(extremes.any, true)) {
      extremes.smallest = extremes.largest = number;
      Need(number);
      Need(number);
    } else {
      if (values[i] < points_.at(extremes.smallest).values.at(i)) {
        move(extremes.smallest, number);
      }
      if (values[i] > points_.at(extremes.largest).values.at(i)) {
        move(extremes.largest, number);
      }
    }
  }
}

void SeriesThinner::Flush(const Taker& take) {
  std::vector<const SeriesPoint*> kept;
  for (const auto& [number, point] : points_) {
    kept.push_back(&point);
  }
  std::stable_sort(kept.begin(), kept.end(),
                   [](const SeriesPoint* a, const SeriesPoint* b) { return a->at < b->at; });
  for (const SeriesPoint* point : kept) {
    take(*point);
  }
  points_.clear();
  needed_.clear();
  series_.clear();
}

}  // namespace whystop

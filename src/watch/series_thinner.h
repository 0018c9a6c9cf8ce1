#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "watch/series_point.h"

namespace whystop {

/// Keeps a few points of each series in each window of time, and gives them on in order when the
/// window is over: the first, the last, the smallest and the largest of each value, the first and the
/// last that is not finite. What was thinned may be thinned again with a wider window: none of these is
/// lost by it.
class SeriesThinner {
 public:
  using Taker = std::function<void(const SeriesPoint&)>;
  explicit SeriesThinner(std::chrono::nanoseconds window) : window_(window) {}

  void Add(SeriesPoint point, const Taker& take);
  /// The window that is not over, as it is.
  void Flush(const Taker& take);

 private:
  using Number = std::size_t;  // Of a point in the window.
  struct Extremes {
    Number smallest = 0;
    Number largest = 0;
    Number odd_first = 0;
    Number odd_last = 0;
    bool any = false;
    bool any_odd = false;
  };
  struct Series {
    std::vector<Number> first;
    std::vector<Number> last;  // Newest at the back.
    std::vector<Extremes> extremes;
  };
  void TakeExtremes(Series& series, Number number);

  const std::chrono::nanoseconds window_;
  std::int64_t current_ = -1;  // Which window.
  std::map<Number, SeriesPoint> points_;
  std::map<Number, int> needed_;  // By how many a point is meant.
  void Need(Number number) { ++needed_[number]; }
  void Let(Number number);
  Number next_ = 0;
  std::map<std::string, Series> series_;
  std::set<std::string> once_;
};

}  // namespace whystop

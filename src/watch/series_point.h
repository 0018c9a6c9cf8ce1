#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "record/message.h"

namespace whystop {

/// One value, or a few that belong together, of one series at one time, as a recording holds it.
struct SeriesPoint {
  enum class Keep {
    kExtremes,  // A series: the first and the last, the smallest and the largest, what is not finite.
    kFew,       // Things that happened: the first few and the last few.
    kOnce,      // What later points refer to: the first of the run.
  };
  RunTime at{};
  std::string key;  // Which series.
  Keep keep = Keep::kExtremes;
  std::vector<double> values;  // By which the extremes are told.
  std::string message;         // A Record of recording.proto that holds this point and no other.
};

/// Cuts the records of a recording into points. Log bytes have bounds of their own and are left out.
class PointCutter {
 public:
  void Cut(const Record& record, const std::function<void(SeriesPoint)>& take);

 private:
  using Taker = std::function<void(SeriesPoint)>;
  void CutSample(RunTime at, const Sample& sample, const Taker& take) const;
  void CutSlots(RunTime at, const ProbeSlots& slots, const Taker& take);

  std::map<std::int64_t, std::string> begun_;  // By process: a record of several slots, as far as it came.
};

}  // namespace whystop

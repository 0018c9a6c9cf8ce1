#pragma once

#include <cstdint>
#include <unordered_map>

#include "model/event.h"

namespace whystop {

/// Leaves out what did not change since the last sample, and makes every 60th sample whole, so that
/// a reader that starts anywhere knows all values within a minute.
class SampleThinner {
 public:
  struct Thinned {
    Sample sample;
    bool whole = false;
  };
  Thinned Thin(const Sample& sample);

 private:
  static constexpr int kSamplesBetweenWhole = 60;
  std::unordered_map<std::uint64_t, std::int64_t> last_;
  int until_whole_ = 0;
};

}  // namespace whystop

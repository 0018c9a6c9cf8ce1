#include "record/sample_thinner.h"

namespace whystop {

SampleThinner::Thinned SampleThinner::Thin(const Sample& sample) {
  Thinned out;
  out.whole = until_whole_ == 0;
  if (out.whole) {
    until_whole_ = kSamplesBetweenWhole;
    last_.clear();  // Also forgets processes that are gone.
  }
  --until_whole_;
  out.sample.readings.reserve(sample.readings.size());
  for (const Reading& reading : sample.readings) {
    const std::uint64_t key = (static_cast<std::uint64_t>(reading.subject) << 16) |
                              static_cast<std::uint64_t>(reading.quantity);
    const auto [found, is_new] = last_.try_emplace(key, reading.value);
    if (is_new || found->second != reading.value) {
      found->second = reading.value;
      out.sample.readings.push_back(reading);
    }
  }
  return out;
}

}  // namespace whystop

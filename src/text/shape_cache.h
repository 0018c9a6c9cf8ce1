#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/line_plan.h"
#include "text/line_shape.h"

namespace whystop {

/// Remembers what lines of the same shape mean: a log is a few print statements, repeated. A shape
/// is learned when it comes the second time. Bounded: kEntries plans, the older one of two goes.
class ShapeCache {
 public:
  static constexpr std::size_t kEntries = 4096;
  static constexpr std::size_t kLineBytesMax = 768;

  /// The plan for this line; nullptr: there is none (yet). Valid until the next call.
  const LinePlan* Find(std::string_view line);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::string shape;
    LinePlan plan;
    bool usable = false;
  };

  const LinePlan* Learn(std::string_view line, std::string_view shape, std::uint64_t hash);

  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::uint32_t> seen_once_;  // Upper halves of hashes.
  std::int64_t credit_ = 2048;            // Learning costs, knowing pays: see Find.
  std::array<char, kLineBytesMax + kShapeSlackBytes> shape_{};
};

}  // namespace whystop

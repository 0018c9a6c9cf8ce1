#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/event.h"

namespace whystop {

/// Where a figure without a step of its own belongs: "step 500 loss 0.2", then "validation loss 0.3"
/// a line below. A figure may come late, when lines like it have been seen often enough to be
/// trusted, so its own line counts, not the moment. Bounded: of a long file every so many steps.
class StepsTold {
 public:
  static constexpr std::size_t kKeptMax = 1024;

  /// Its own step, or the last that the same file told before it; nullopt: none.
  std::optional<std::int64_t> Of(const Scalar& scalar);
  void Clear() { *this = {}; }

 private:
  struct Told {
    std::int64_t line = 0;
    std::int64_t step = 0;
  };

  void Note(const Scalar& scalar);

  std::string file_;  // The one that told a step last.
  std::optional<Told> last_;
  std::vector<Told> kept_;
  std::size_t seen_ = 0;
  std::size_t stride_ = 1;  // A power of two.
};

}  // namespace whystop

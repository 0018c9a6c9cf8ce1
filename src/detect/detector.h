#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "model/event.h"
#include "model/finding.h"

namespace whystop {

/// Watches the stream of one run and reports what is out of the ordinary. A detector is a function
/// of its input: no clock, no file, bounded state. The same events give the same findings, live or
/// from a file.
class Detector {
 public:
  virtual ~Detector() = default;
  virtual void Push(const Event& event, FindingSink& out) = 0;
  /// The stream is over (or, live, a verdict is asked for now). May be called more than once; must
  /// not change state that later pushes rely on.
  virtual void Finish(FindingSink& out) { static_cast<void>(out); }
};

struct DetectorEntry {
  std::string_view id;     // "loss/not-finite"
  std::string_view title;  // "The loss became NaN or infinite"
  std::unique_ptr<Detector> (*make)();
};

/// Every detector, sorted by id.
std::span<const DetectorEntry> AllDetectors();

}  // namespace whystop

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/event.h"
#include "model/steps_told.h"

namespace whystop {

/// One value at one time, whether of training or of the machine.
struct ExportRow {
  RunTime at{};
  std::string series;
  std::string_view role;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> step_before;  // Its own, or the last that its file told before it.
  std::optional<double> epoch;
  std::optional<int> rank;
  std::string source;  // File or stream it was read from; "probe"; "machine".
  double value = 0;
};

/// Makes rows of events.
class RowMaker {
 public:
  RowMaker(bool resources, std::function<void(const ExportRow&)> out)
      : resources_(resources), out_(std::move(out)) {}
  void Push(const Event& event);

 private:
  bool resources_;
  std::function<void(const ExportRow&)> out_;
  StepsTold steps_;
  std::map<SubjectId, std::string> subjects_;
};

/// "tree", "control group /train", "GPU 0": in front of the quantity of a reading.
std::string SubjectPath(const Subject& subject);

}  // namespace whystop

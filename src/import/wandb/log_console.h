#pragma once

#include <string>

#include "import/wandb/wandb_reader.h"
#include "text/log_reader.h"

namespace whystop {

/// Reads the console text of a tracked run as a log. Points found in the text are left out when the
/// tracker itself has logged some (`keep_points` false): they are the same ones, rounded.
class LogConsole final : public ConsoleText, private EventSink {
 public:
  LogConsole(const std::string& file, bool keep_points, EventSink& sink)
      : sink_(sink), keep_points_(keep_points), reader_(file, *this, {.text_end = true}) {}

  void Feed(std::string_view bytes, RunTime at) override { reader_.Feed(bytes, at); }
  void Finish(RunTime at, bool end_known) override {
    end_known_ = end_known;
    reader_.Finish(at, std::nullopt);
  }

 private:
  void Push(const Event& event) override {
    const bool same_points = event.As<Scalar>() != nullptr && !keep_points_;
    const bool idle_end = event.As<TextEnd>() != nullptr && end_known_;
    if (!same_points && !idle_end) {
      sink_.Push(event);
    }
  }

  EventSink& sink_;
  bool keep_points_;
  LogReader reader_;
  bool end_known_ = false;
};

}  // namespace whystop

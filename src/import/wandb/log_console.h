#pragma once

#include <string>

#include "import/series_log.h"
#include "import/wandb/wandb_reader.h"
#include "text/log_reader.h"

namespace whystop {

/// Reads the console text of a tracked run as a log. Points found in the text are left out once the tracker itself has
/// logged some: they are the same ones, rounded.
class LogConsole final : public ConsoleText, private EventSink {
 public:
  LogConsole(const SeriesLog& log, EventSink& sink)
      : log_(log), sink_(sink), reader_(log.file(), *this, {.text_end = true}) {}

  void Feed(std::string_view bytes, RunTime at) override { reader_.Feed(bytes, at); }
  void Finish(RunTime at, bool end_known) override {
    end_known_ = end_known;
    reader_.Finish(at, std::nullopt);
  }

 private:
  void Push(const Event& event) override {
    const bool same_points = event.As<Scalar>() != nullptr && log_.points() > 0;
    const bool idle_end = event.As<TextEnd>() != nullptr && end_known_;
    if (!same_points && !idle_end) {
      sink_.Push(event);
    }
  }

  const SeriesLog& log_;
  EventSink& sink_;
  LogReader reader_;
  bool end_known_ = false;
};

}  // namespace whystop

#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "text/box_table.h"
#include "text/column_table.h"
#include "text/epilogue.h"
#include "text/line_splitter.h"
#include "text/metric_line.h"
#include "text/metric_stream.h"
#include "text/prefix.h"
#include "text/progress_tracker.h"
#include "text/session_watch.h"
#include "text/shape_cache.h"
#include "text/signature_matcher.h"
#include "text/traceback.h"

namespace whystop {

struct LogReaderOptions {
  bool text_end =
      false;  // Say at Finish how the text ends: for files, where no exit status is known.
  bool learn_shapes = true;  // Off: read every line anew. Slower, with the same events.
  bool one_run = false;  // The output of a job that was watched: nothing in it starts another run.
};

/// Turns the bytes of one log stream into events: LogFact, ExceptionSeen, Scalar, Progress, and the
/// Observation "session-start" {reason, line} where another run begins in the same file (what came
/// before it is history). However the bytes are chunked, the events are the same. Memory is
/// bounded. See README.md for what the facts mean.
class LogReader final : private LineSink {
 public:
  LogReader(std::string source_name, EventSink& out, LogReaderOptions options = {});
  LogReader(const LogReader&) = delete;
  LogReader& operator=(const LogReader&) = delete;

  /// `at` is when the bytes were written, where known.
  void Feed(std::string_view bytes, RunTime at);
  /// Says how far the run is by the last line. Milestones are enough for one that is over; of one that goes on, a
  /// hundredth of the way may be hours.
  void TellProgress();
  /// The stream is over. `age`: how long ago the file was last written.
  void Finish(RunTime at, std::optional<std::chrono::seconds> age);

 private:
  static constexpr std::int64_t kAdvancesToSurvive = 3;  // Other ranks and a bar's last redraw move on a little.

  /// How far the log was at some place.
  struct Mark {
    std::int64_t advances = 0;      // Of the progress.
    std::int64_t bar_advances = 0;  // Of these, the ones that bars made.
    std::int64_t logged_advances = 0;  // Of these, the ones that a logger's lines made.
    std::int64_t bytes = 0;
    std::int64_t arrivals = 0;  // Moments at which text came that moved the progress on.
  };
  struct Pending {
    PrintedException exception;
    Mark at;
    bool early = false;  // It may stand too early: see Survived.
  };

  struct HeldFact {
    LogFact fact;
    const Signature* row = nullptr;
  };
  /// A further traceback of the same program, until the line behind it tells whether it was another rank's or another run's.
  struct Attempt {
    std::int64_t line = 0;
    std::size_t pending_before = 0;
    std::vector<HeldFact> facts;
  };

  void OnLine(const LogLine& line) override;
  void OnNulRun(std::int64_t bytes, std::int64_t line) override;

  void ReadText(std::string_view text, std::int64_t number);
  bool ReadBar(std::string_view text, std::int64_t number, std::string_view& rest);
  void ReadBarFigures(const Bar& bar, std::int64_t number, bool closed);
  void ReadFacts(const PeeledLine& line, std::int64_t number,
                 const std::vector<SignatureMatcher::Match>& matches);
  void TakeFact(LogFact fact, const Signature& row);
  void ReadMetrics(const PeeledLine& line, std::int64_t number);
  bool Lex(std::string_view text);
  void PushMetricLine(std::int64_t number, std::optional<int> rank);
  void ReadPlan(std::string_view body);
  void TakeExceptions();
  void HoldException(PrintedException exception);
  void KeepBareException(std::string_view text, const PeeledLine& line, std::int64_t number);
  void HoldBareException();
  bool Survived(const Pending& held) const;
  void SettleExceptions(bool over);
  Mark Here() const;
  bool IsAnotherRefusal(std::string_view body);
  bool IsAnotherAttempt() const;
  void HoldAttempt(std::int64_t number);
  void SettleAttempts(bool ranks);
  bool IsCutOff() const;
  void NoteFailure();
  void NoteSurvival();
  bool IsCompleted() const;
  void KeepProse(std::string_view body);
  void KeepGuard(const PeeledLine& line, std::int64_t number, bool known);
  void PushGuard();
  Epilogue::Standing Standing() const;
  void StartSession(const char* reason, std::int64_t number);
  void PushScalars(const MetricLine& line, std::int64_t number, std::optional<int> rank);
  void PushProgress(std::int64_t number, std::optional<int> rank, bool force);
  void PushTextEnd(std::optional<std::chrono::seconds> age);
  template <typename T>
  void Push(T body);

  std::string source_;
  EventSink& out_;
  LogReaderOptions options_;
  const SignatureMatcher& matcher_;
  LineSplitter splitter_;
  TracebackReader tracebacks_;
  ProgressTracker progress_;
  MetricStream metrics_;
  SessionWatch sessions_;
  Epilogue epilogue_;
  std::int64_t epilogue_after_ = 0;  // How far training was when it began.
  bool failed_ = false;              // Something in this run spoke of a failure.

  RunTime at_{};
  std::int64_t arrivals_ = 0;
  std::int64_t advances_before_ = 0;  // Until the text that came last.
  ShapeCache shapes_;
  bool finishing_ = false;          // What comes now has no line break: its last number may be cut.
  const LinePlan* plan_ = nullptr;  // For the line at hand, if its shape is known.
  MetricStream::KnownNames* known_names_ = nullptr;  // Of metric_line_, if it was read by the plan.
  MetricLine metric_line_;                           // Scratch, as are the points and the event.
  std::vector<MetricStream::Point> points_;
  Event scalar_event_;
  ColumnTable columns_;
  BoxTable box_;
  std::vector<Pending> pending_;
  std::vector<Attempt> attempts_;
  std::optional<Pending> bare_;  // An exception's line whose traceback was torn apart.
  std::int64_t milestone_pushed_ = 0;
  std::optional<std::int64_t> step_pushed_;
  bool push_progress_ = false;  // A fact was told: say whether training goes on after it.
  std::int64_t bar_advances_ = 0;
  std::int64_t logged_advances_ = 0;  // By lines of a logger, which writes each at once.
  std::int64_t bytes_ = 0;
  std::int64_t failed_at_advances_ = 0;
  std::optional<LogFact> guard_;       // The program's own words that its loss was not finite.
  std::int64_t guard_after_ = 0;       // Where training stood then.
  bool guard_stopped_ = false;         // They say that it gives up.
  std::optional<Mark> completed_;       // The last planned end that was told.
  std::optional<Mark> cut_off_;         // The scheduler's last word.
  std::int64_t ended_after_bytes_ = 0;  // The last exception that ended the program.
  std::int64_t lines_since_end_ = 0;    // Ordinary lines after the last sign of an end.
  std::string last_postfix_;
  std::string last_refusal_;  // Where Python could not read a program.
  bool ranks_ = false;        // Lines of this run say of which rank they are.
  std::string last_line_;
  std::int64_t last_line_number_ = 0;
  bool last_was_whole_ = false;  // The last line was a bar, a metric line or a known phrase.
};

}  // namespace whystop

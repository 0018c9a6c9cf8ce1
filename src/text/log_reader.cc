#include "text/log_reader.h"

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "base/shown_text.h"
#include "text/bar.h"
#include "text/closing_words.h"
#include "text/countdown.h"
#include "text/guard_words.h"
#include "text/plan_words.h"
#include "text/terminal_text.h"

namespace whystop {
namespace {

constexpr std::size_t kLineShownBytes = 500;
constexpr int kBarsInLineMax = 4096;  // Some writers drop the returns between redraws.

bool IsBlank(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char letter) { return letter == ' ' || letter == '\t'; });
}

/// A common phrase that a logger passes on as information: a sample of generated text, a message
/// quoted.
bool IsOnlyMentioned(const Signature& row, LogLevel level) {
  return row.generic && row.role == LogFact::Role::kRoot &&
         (level == LogLevel::kInfo || level == LogLevel::kDebug);
}

/// A fraction, or what stands in its place.
bool HasDecimal(std::string_view text) {
  for (std::size_t at = text.find('.'); at != std::string_view::npos; at = text.find('.', at + 1)) {
    if (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9') {
      return true;
    }
  }
  return text.find("nan") != std::string_view::npos;
}

/// A quick look at lines of figures, of which a log has many.
bool MaySayTheEnd(std::string_view body) {
  return body.find("omplete") != std::string_view::npos || body.find("inished") != std::string_view::npos;
}

bool MaySpeakOfNan(std::string_view body) {
  for (const std::string_view word : {"nan", "NaN", "NAN", "Nan", "inf", "Inf", "INF"}) {
    if (body.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

/// The word of whoever ends jobs from outside, which no program can print of itself.
bool IsWordOfTheScheduler(const Signature& row) {
  static constexpr std::string_view kCauses[] = {"scheduler-time-limit", "scheduler-cancelled", "preempted",
                                                 "notebook-runtime-limit"};
  return row.severity == Signature::Severity::kFatal && row.role == LogFact::Role::kRoot &&
         std::find(std::begin(kCauses), std::end(kCauses), row.cause) != std::end(kCauses);
}

/// The text without a number at its very end, which may be the first half of another: "step 10/5".
std::string_view WithoutCutNumber(std::string_view text) {
  const std::size_t last = text.find_last_not_of("0123456789.eE+-");
  const std::size_t start = last == std::string_view::npos ? 0 : last + 1;
  const bool number = text.find_first_of("0123456789.", start) != std::string_view::npos;
  return number ? text.substr(0, start) : text;
}

}  // namespace

LogReader::LogReader(std::string source_name, EventSink& out, LogReaderOptions options)
    : source_(std::move(source_name)),
      out_(out),
      options_(options),
      matcher_(SignatureMatcher::Shared()),
      splitter_(*this),
      tracebacks_(source_) {
  scalar_event_.body = Scalar{};
  std::get<Scalar>(scalar_event_.body).place.file = source_;
}

template <typename T>
void LogReader::Push(T body) {
  out_.Push(Event{.at = at_, .body = std::move(body)});
}

void LogReader::Feed(std::string_view bytes, RunTime at) {
  if (at != at_) {
    arrivals_ += progress_.advances() > advances_before_ ? 1 : 0;
    advances_before_ = progress_.advances();
  }
  at_ = at;
  splitter_.Feed(bytes);
}

void LogReader::OnNulRun(std::int64_t bytes, std::int64_t line) {
  NoteFailure();  // If a run's first lines follow, the one before was cut off.
  Observation seen;
  seen.kind = "nul-run";
  seen.attributes = {{"bytes", static_cast<double>(bytes)},
                     {"line", static_cast<double>(line)},
                     {"file", source_}};
  Push(std::move(seen));
}

void LogReader::OnLine(const LogLine& line) {
  std::string_view text = line.text;
  bytes_ += static_cast<std::int64_t>(text.size()) + 1;
  plan_ = options_.learn_shapes && !finishing_ ? shapes_.Find(text) : nullptr;
  known_names_ = nullptr;
  std::string_view rest;
  for (int bars = 0; bars < kBarsInLineMax && ReadBar(text, line.number, rest); ++bars) {
    if (IsBlank(rest)) {
      return;
    }
    text = rest;
    plan_ = options_.learn_shapes && !finishing_ ? shapes_.Find(text) : nullptr;
  }
  ReadText(text, line.number);
}

bool LogReader::ReadBar(std::string_view text, std::int64_t number, std::string_view& rest) {
  const std::optional<Bar> bar = plan_ != nullptr ? plan_->BarOf(text) : ParseBar(text);
  if (!bar) {
    return false;
  }
  if (tracebacks_.HasOpenException()) {
    tracebacks_.EndMessages();
    TakeExceptions();
  }
  SettleAttempts(false);
  const bool full = bar->done && bar->done == bar->total;
  const std::int64_t advances_before = progress_.advances();
  if (columns_.PushHeader(bar->label)) {
    // Names only: the row follows on a line of its own.
  } else if (columns_.ReadRow(bar->label, metric_line_)) {
    metric_line_.in_progress = !full;
    PushMetricLine(number, std::nullopt);
  } else if (!progress_.PushBar(*bar)) {
    StartSession("a progress bar started over", number);
    static_cast<void>(progress_.PushBar(*bar));
  }
  bar_advances_ += std::max<std::int64_t>(0, progress_.advances() - advances_before);
  const bool closed = !finishing_ || text.substr(0, bar->size).ends_with(']');
  // Drawn again as it was, after a message or at the end: no new point.
  const bool redrawn = progress_.advances() == advances_before && bar->postfix == last_postfix_;
  last_postfix_.assign(bar->postfix);
  if (!redrawn) {
    ReadBarFigures(*bar, number, closed);
  }
  PushProgress(number, std::nullopt, false);
  last_was_whole_ = true;
  last_line_.assign(text.substr(0, kLineShownBytes));
  last_line_number_ = number;
  rest = text.substr(bar->size);
  return true;
}

/// The figures that stand behind a bar, or else before it: "loss: 0.53:  45%|####".
void LogReader::ReadBarFigures(const Bar& bar, std::int64_t number, bool closed) {
  bool found = !bar.postfix.empty() && Lex(closed ? bar.postfix : WithoutCutNumber(bar.postfix)) &&
               !metric_line_.values.empty();
  if (!found && HasDecimal(bar.label)) {
    known_names_ = nullptr;
    found = LexMetricLine(bar.label, metric_line_) && !metric_line_.values.empty();
  }
  if (found) {
    metric_line_.step = bar.done;
    metric_line_.steps = bar.total;
    PushScalars(metric_line_, number, std::nullopt);
  }
}

void LogReader::ReadText(std::string_view text, std::int64_t number) {
  const PeeledLine line = plan_ != nullptr ? plan_->Peel(text) : PeelPrefix(text);
  std::vector<SignatureMatcher::Match> matches;
  if (plan_ == nullptr || !plan_->quiet()) {
    matches = matcher_.MatchLine(line.body);
  }
  const auto marked = [&matches](std::string_view cause) {
    return std::any_of(matches.begin(), matches.end(),
                       [cause](const auto& match) { return match.signature->cause == cause; });
  };
  ranks_ = ranks_ || line.rank;
  if (!IsBlank(text)) {
    last_line_.assign(text.substr(0, kLineShownBytes));
    last_line_number_ = number;
    last_was_whole_ = false;
    if (tracebacks_.HasOpenException()) {
      NoteFailure();
    }
    const bool opening = marked("session-start") || IsAnotherRefusal(line.body);
    const char* reason = tracebacks_.InFrames() ? nullptr : sessions_.Push(line, opening);
    if (reason != nullptr) {
      StartSession(reason, number);
    }
  }
  const bool launchers = marked("sibling-rank-failed") && !marked("exception-line") && !tracebacks_.InFrames();
  if (launchers && tracebacks_.HasOpenException()) {
    tracebacks_.EndMessages();  // No part of a rank's message.
    TakeExceptions();
  }
  bool in_traceback = false;
  if (tracebacks_.Wants(line.body, marked("traceback"))) {
    in_traceback = tracebacks_.Push(line, number);
    TakeExceptions();
    if (IsAnotherAttempt()) {
      HoldAttempt(number);
    }
  }
  if (!in_traceback && !IsBlank(line.body)) {
    SettleAttempts(launchers);
  }
  lines_since_end_ = in_traceback ? 0 : lines_since_end_ + 1;
  if (!in_traceback && marked("exception-line")) {
    KeepBareException(text, line, number);
  }
  ReadFacts(line, number, matches);
  if (!in_traceback && !IsBlank(line.body)) {
    ReadMetrics(line, number);
    KeepProse(line.body);
    KeepGuard(line, number, marked("stop-on-nan"));
  }
}

/// Lines of figures move training on; all others may be the last words.
void LogReader::KeepProse(std::string_view body) {
  const std::int64_t moved = progress_.advances() + metrics_.training_points();
  if (moved != epilogue_after_) {
    epilogue_after_ = moved;
    epilogue_.TrainingMoved();
    // "Optimization complete, best score on iteration 36960" counts, and is the end all the same.
    if (options_.text_end && MaySayTheEnd(body) && ReadClosingWords(body) == Closing::kEnd) {
      epilogue_.PushProse(body);
    }
  } else if (options_.text_end) {
    epilogue_.PushProse(body);
  }
}

/// A program that gave up because of a loss that is not finite, in words of its own; nothing of training may follow.
void LogReader::KeepGuard(const PeeledLine& line, std::int64_t number, bool known) {
  if (guard_ && progress_.advances() + metrics_.training_points() != guard_after_) {
    guard_.reset();
  }
  if (known || (plan_ != nullptr && !plan_->guards()) || !MaySpeakOfNan(line.body)) {
    return;
  }
  const NanGuard said = ReadNanGuard(line.body);
  if (said == NanGuard::kNone || (guard_ && guard_stopped_)) {
    return;
  }
  LogFact fact;
  fact.cause = "stop-on-nan";
  fact.role = LogFact::Role::kRoot;
  fact.line = ShownText(Trim(line.body), kLineShownBytes);
  fact.place = {.file = source_, .line = number};
  fact.rank = line.rank;
  fact.fatal = true;
  guard_ = std::move(fact);
  guard_stopped_ = said == NanGuard::kStopped;
  guard_after_ = progress_.advances() + metrics_.training_points();
}

void LogReader::PushGuard() {
  const bool moved = progress_.advances() + metrics_.training_points() != guard_after_;
  if (guard_ && !moved && (guard_stopped_ || guard_->place.line == last_line_number_)) {
    Push(*std::exchange(guard_, std::nullopt));
  }
}

void LogReader::ReadFacts(const PeeledLine& line, std::int64_t number,
                          const std::vector<SignatureMatcher::Match>& matches) {
  for (const SignatureMatcher::Match& match : matches) {
    const Signature& row = *match.signature;
    last_was_whole_ = true;
    const bool repeated =
        std::any_of(matches.data(), &match, [&row](const SignatureMatcher::Match& other) {
          return other.signature->cause == row.cause && other.signature->role == row.role;
        });
    if (row.role == LogFact::Role::kNoise || repeated || IsOnlyMentioned(row, line.level)) {
      continue;
    }
    LogFact fact;
    fact.cause = std::string(row.cause);
    fact.role = row.role;
    fact.line = ShownText(Trim(line.body), kLineShownBytes);
    for (const std::string& capture : match.captures) {
      fact.captures.push_back(ShownText(capture, kLineShownBytes));
    }
    fact.place = {.file = source_, .line = number};
    fact.rank = line.rank;
    fact.generic = row.generic;
    fact.fatal = row.severity == Signature::Severity::kFatal;
    if (attempts_.empty()) {
      TakeFact(std::move(fact), row);
    } else {
      attempts_.back().facts.push_back({std::move(fact), &row});
    }
  }
}

void LogReader::TakeFact(LogFact fact, const Signature& row) {
  PushProgress(fact.place.line, fact.rank, false);
  if (row.cause == "sibling-rank-failed") {
    ranks_ = true;
    HoldBareException();
  }
  Push(std::move(fact));
  push_progress_ = true;
  lines_since_end_ = row.role == LogFact::Role::kContext ? lines_since_end_ : 0;
  if (row.role == LogFact::Role::kNormal && row.cause != "trial-pruned") {  // The study goes on.
    completed_ = Here();
    sessions_.NoteCompletion();
  } else if (row.severity == Signature::Severity::kFatal) {
    NoteFailure();
    cut_off_ = IsWordOfTheScheduler(row) ? Here() : cut_off_;
  }
}

void LogReader::NoteFailure() {
  sessions_.NoteFailure();
  epilogue_.NoteFailure();
  failed_ = true;
  failed_at_advances_ = progress_.advances();
}

/// What failed did not end the run: its first lines may come again for another reason.
void LogReader::NoteSurvival() {
  if (progress_.advances() - failed_at_advances_ >= kAdvancesToSurvive && pending_.empty()) {
    sessions_.NoteSurvival();
  }
}

LogReader::Mark LogReader::Here() const {
  return {.advances = progress_.advances(),
          .bar_advances = bar_advances_,
          .logged_advances = logged_advances_,
          .bytes = bytes_,
          .arrivals = arrivals_};
}

void LogReader::ReadMetrics(const PeeledLine& line, std::int64_t number) {
  if (line.body.starts_with("wandb:")) {
    return;  // A summary of what was logged before.
  }
  if (columns_.PushHeader(line.body)) {
    return;
  }
  bool closed = false;
  if (box_.Push(line.body, closed)) {
    if (closed) {
      box_.Read(metric_line_);
      known_names_ = nullptr;
      PushMetricLine(number, line.rank);
    }
    return;
  }
  const std::string_view body = finishing_ ? WithoutCutNumber(line.body) : line.body;
  if (columns_.ReadRow(body, metric_line_) || Lex(body)) {
    if (!metric_line_.has_counter() && (plan_ == nullptr || plan_->plans())) {
      ReadPlan(body);
    }
    if (metric_line_.step && (plan_ == nullptr || plan_->counts_down())) {
      progress_.PushTimeLeft(ReadTimeLeft(body));
    }
    const std::int64_t before = progress_.advances();
    PushMetricLine(number, line.rank);
    logged_advances_ += line.logged ? progress_.advances() - before : 0;
  }
}

/// LexMetricLine into metric_line_, by the plan where there is one.
bool LogReader::Lex(std::string_view text) {
  if (plan_ != nullptr) {
    if (const std::optional<bool> found = plan_->metrics().Read(text, metric_line_)) {
      known_names_ = plan_->metrics().names();
      return *found;
    }
  }
  return LexMetricLine(text, metric_line_);
}

void LogReader::PushMetricLine(std::int64_t number, std::optional<int> rank) {
  if (progress_.IsEvaluation(metric_line_)) {
    metric_line_.validation = true;
    metric_line_.epoch = progress_.epoch();
    metric_line_.step.reset();
    metric_line_.steps.reset();
    known_names_ = nullptr;
    PushScalars(metric_line_, number, rank);
    return;
  }
  if (metric_line_.has_counter() && !progress_.PushCounters(metric_line_)) {
    StartSession("the counters started over", number);
    static_cast<void>(progress_.IsEvaluation(metric_line_));
    static_cast<void>(progress_.PushCounters(metric_line_));
  }
  if (!metric_line_.values.empty()) {
    PushScalars(metric_line_, number, rank);
    if (!points_.empty() && !metric_line_.has_counter()) {
      progress_.PushFigures();
    }
  }
  PushProgress(number, rank, false);
}

void LogReader::PushScalars(const MetricLine& line, std::int64_t number, std::optional<int> rank) {
  points_.clear();
  metrics_.Push(line, number, points_, known_names_);
  if (points_.empty()) {
    return;
  }
  last_was_whole_ = true;
  if (metrics_.training_points() > 0) {
    sessions_.NoteTraining();
  }
  scalar_event_.at = at_;
  Scalar& scalar = std::get<Scalar>(scalar_event_.body);
  scalar.rank = rank;
  const std::optional<std::int64_t> step = progress_.GlobalStep(line);
  for (const MetricStream::Point& point : points_) {
    const bool now = point.line == number;
    scalar.series.assign(point.series);
    scalar.role = point.role;
    scalar.value = point.value;
    scalar.step = now ? step : std::nullopt;
    scalar.epoch = line.epoch ? line.epoch : now ? progress_.epoch() : std::nullopt;
    scalar.place.line = point.line;
    out_.Push(scalar_event_);
  }
  if (!pending_.empty()) {
    SettleExceptions(false);
  }
  NoteSurvival();
}

/// How far the run means to go, where only its configuration says so: "max_epochs=12", "max: 36
/// epochs".
void LogReader::ReadPlan(std::string_view body) {
  const PlanWords plan = ReadPlanWords(body, metric_line_);
  if (plan.epochs) {
    progress_.PlanEpochs(*plan.epochs);
  }
  if (plan.steps) {
    progress_.PlanSteps(*plan.steps);
  }
}

void LogReader::PushProgress(std::int64_t number, std::optional<int> rank, bool force) {
  if (!(progress_.started() || (force && progress_.planned())) ||
      (!force && !push_progress_ && progress_.milestone() == milestone_pushed_)) {
    return;
  }
  milestone_pushed_ = progress_.milestone();
  push_progress_ = false;
  if (progress_.trained()) {
    sessions_.NoteTraining();
  }
  Progress now = progress_.Now();
  step_pushed_ = now.step;
  now.rank = rank;
  now.place = {.file = source_, .line = number};
  Push(std::move(now));
  if (!pending_.empty()) {
    SettleExceptions(false);
  }
}

void LogReader::TellProgress() {
  if (progress_.Now().step != step_pushed_) {
    PushProgress(last_line_number_, std::nullopt, true);
  }
}

void LogReader::Finish(RunTime at, std::optional<std::chrono::seconds> age) {
  at_ = at;
  finishing_ = true;
  splitter_.Finish();
  tracebacks_.Finish();
  TakeExceptions();
  SettleAttempts(false);
  constexpr std::int64_t kMessageLinesMax = 3;
  if (bare_ && last_line_number_ - bare_->exception.seen.place.line < kMessageLinesMax) {
    HoldBareException();  // The last words of a log whose traceback was left out.
  }
  PushProgress(last_line_number_, std::nullopt, true);
  SettleExceptions(true);
  PushGuard();
  if (options_.text_end) {
    PushTextEnd(age);
  }
}

/// The scheduler ended the job, and nothing of training came after it: what the program had said before is overruled.
bool LogReader::IsCutOff() const {
  return cut_off_ && (!completed_ || completed_->bytes < cut_off_->bytes) &&
         progress_.advances() - cut_off_->advances < kAdvancesToSurvive;
}

/// A planned end was told or reached, and neither more training nor an exception came after it.
bool LogReader::IsCompleted() const {
  if (IsCutOff()) {
    return false;
  }
  if (completed_ && completed_->bytes > ended_after_bytes_ &&
      progress_.advances() - completed_->advances <= 3 + completed_->advances / 20) {
    return true;
  }
  if (progress_.finished() && metrics_.training_points() > 0 && ended_after_bytes_ == 0) {
    return true;
  }
  const bool moved = progress_.advances() + metrics_.training_points() != epilogue_after_;
  return !moved && epilogue_.SaysCompleted(Standing());
}

Epilogue::Standing LogReader::Standing() const {
  constexpr std::int64_t kPointsToTrust = 5;
  return {.trained = progress_.advances() >= kPointsToTrust ||
                     metrics_.training_points() >= kPointsToTrust,
          .unfinished = progress_.unfinished(),
          .round = progress_.StandsAtRoundCount() || progress_.IsNearPlan(),
          .failed = failed_};
}

void LogReader::PushTextEnd(std::optional<std::chrono::seconds> age) {
  TextEnd end;
  const bool done = IsCompleted();
  if (splitter_.nul_tail_bytes() > 0) {
    end.kind = TextEnd::Kind::kNulTail;
  } else if (done) {
    end.kind = TextEnd::Kind::kCompleted;
  } else if (splitter_.ended_mid_line() && !last_was_whole_) {
    end.kind = TextEnd::Kind::kMidLine;
  } else if (progress_.unfinished()) {
    end.kind = TextEnd::Kind::kMidProgress;
  }
  end.place = {.file = source_, .line = last_line_number_};
  end.last_line = ShownText(Trim(last_line_), kLineShownBytes);
  end.age = age;
  Push(std::move(end));
}

}  // namespace whystop

#include <algorithm>
#include <iterator>
#include <utility>

#include "text/log_reader.h"

// Where one run of a log ends and another begins, as far as the reader's own state tells it.
// See session_watch.h for the lines that announce it.

namespace whystop {

/// A program that Python refuses to read is a new one, whatever came before; its ranks say the same once more.
bool LogReader::IsAnotherRefusal(std::string_view body) {
  if (options_.one_run || !body.starts_with("  File \"") || tracebacks_.InFrames() || tracebacks_.MessageGoesOn() ||
      !IsRefusalOfPython(body) || body == last_refusal_) {
    return false;
  }
  last_refusal_ = body;
  return true;
}

/// A traceback that begins at the top of a program which has already ended with one: it was started again. Ranks of one
/// job look the same, but say who they are; and where training had begun, only a program that comes less far is another.
bool LogReader::IsAnotherAttempt() const {
  const std::optional<Frame> top = tracebacks_.FirstFrame();
  if (!top || top->function != "<module>" || ranks_ || options_.one_run) {
    return false;
  }
  const bool trained = progress_.trained() || metrics_.training_points() > 0;
  return std::any_of(pending_.begin(), pending_.end(), [&](const Pending& held) {
    const ExceptionSeen& seen = held.exception.seen;
    return !held.exception.warned && !seen.rank && !seen.frames.empty() && seen.frames.front().file == top->file &&
           seen.frames.front().function == top->function && (!trained || top->line < seen.frames.front().line);
  });
}

/// Two ranks that fail differently look the same at first: their launcher says so right behind them.
void LogReader::HoldAttempt(std::int64_t number) {
  const bool known = !attempts_.empty() && attempts_.back().pending_before == pending_.size();
  if (!known) {
    attempts_.push_back({.line = number, .pending_before = pending_.size(), .facts = {}});
  }
}

void LogReader::SettleAttempts(bool ranks) {
  if (attempts_.empty()) {
    return;
  }
  std::vector<Attempt> attempts = std::exchange(attempts_, {});
  const std::size_t before = attempts.front().pending_before;
  const auto first = pending_.begin() + static_cast<std::ptrdiff_t>(before);
  std::vector<Pending> held(std::make_move_iterator(first), std::make_move_iterator(pending_.end()));
  pending_.erase(first, pending_.end());
  std::size_t taken = 0;
  for (std::size_t i = 0; i < attempts.size(); ++i) {
    if (!ranks) {
      StartSession("another traceback of the same program", attempts[i].line);
      NoteFailure();
    }
    const std::size_t end = i + 1 < attempts.size() ? attempts[i + 1].pending_before - before : held.size();
    for (; taken < end; ++taken) {
      HoldException(std::move(held[taken].exception));
    }
    for (HeldFact& one : attempts[i].facts) {
      TakeFact(std::move(one.fact), *one.row);
    }
  }
}

void LogReader::StartSession(const char* reason, std::int64_t number) {
  SettleAttempts(false);
  if (options_.one_run) {
    // Folds, stages and inner loops count from the start again: a new count, and no new run.
    PushProgress(number, std::nullopt, true);
    const std::int64_t advances = progress_.advances();
    progress_.Reset();
    sessions_.Reset();
    completed_.reset();
    failed_at_advances_ -= advances;
    for (Pending& held : pending_) {
      held.at.advances -= advances;
    }
    return;
  }
  if (!tracebacks_.FirstFrame()) {  // That one is the new run's.
    tracebacks_.Finish();
  }
  TakeExceptions();
  SettleExceptions(true);
  PushProgress(number, std::nullopt, true);
  Observation seen;
  seen.kind = "session-start";
  seen.attributes = {
      {"reason", std::string(reason)}, {"line", static_cast<double>(number)}, {"file", source_}};
  out_.Push(Event{.at = at_, .body = std::move(seen)});
  progress_.Reset();
  metrics_.Reset();
  sessions_.Reset();
  completed_.reset();
  epilogue_.Reset();
  failed_ = false;
  bare_.reset();
  guard_.reset();
  cut_off_.reset();
  ended_after_bytes_ = 0;
  ranks_ = false;
  bar_advances_ = 0;
  logged_advances_ = 0;
  failed_at_advances_ = 0;
  push_progress_ = false;
}

}  // namespace whystop

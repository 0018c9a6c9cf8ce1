#include <utility>

#include "text/log_reader.h"

// Which of a log's exceptions ended the program: told when it is known whether training went on.

namespace whystop {
namespace {

constexpr std::size_t kPendingMax = 64;
constexpr std::int64_t kTeardownLinesMax = 80;  // A program that says more after a traceback has gone on.
// A pipe or file gets standard output in buffers of this size, standard error at once: a traceback
// may stand before the program's last words.
constexpr std::int64_t kStdioBufferBytes = 8192;

}  // namespace

void LogReader::TakeExceptions() {
  for (PrintedException& exception : tracebacks_.TakeFinished()) {
    HoldException(std::move(exception));
  }
}

/// torchrun prints a rank's traceback plain and again with "[rank0]: "; one of them is enough.
void LogReader::HoldException(PrintedException exception) {
  const std::size_t from = attempts_.empty() ? 0 : attempts_.back().pending_before;
  for (std::size_t at = from; at < pending_.size(); ++at) {
    Pending& held = pending_[at];
    ExceptionSeen& known = held.exception.seen;
    if (known.type == exception.seen.type && known.message == exception.seen.message &&
        (!known.rank || !exception.seen.rank || known.rank == exception.seen.rank)) {
      known.rank = known.rank ? known.rank : exception.seen.rank;
      held.exception.warned = held.exception.warned && exception.warned;
      return;
    }
  }
  if (pending_.size() == kPendingMax) {
    SettleAttempts(false);
    SettleExceptions(true);
  }
  if (!exception.warned) {
    NoteFailure();
  }
  const bool early = exception.glued || metrics_.training_points() == 0;
  pending_.push_back({.exception = std::move(exception), .at = Here(), .early = early});
}

/// The first since training last moved on: what follows it are other ranks' and its consequences.
/// PyTorch puts "[rank3]: " before what nobody caught, and only before that.
void LogReader::KeepBareException(std::string_view text, const PeeledLine& line,
                                  std::int64_t number) {
  if ((bare_ && !Survived(*bare_)) || tracebacks_.HasOpenException()) {
    return;
  }
  if (auto seen = ReadBareException(line.body, {.file = source_, .line = number})) {
    seen->rank = line.rank;
    bare_ = Pending{.exception = {.seen = *std::move(seen), .warned = line.logged}, .at = Here()};
    if (text.starts_with("[rank") && line.rank) {
      HoldBareException();
    }
  }
}

/// A launcher says that a rank failed, and no whole traceback says of what.
void LogReader::HoldBareException() {
  if (bare_ && pending_.empty() && !tracebacks_.HasOpenException() && !Survived(*bare_)) {
    pending_.push_back(*std::move(bare_));
  }
  bare_.reset();
}

/// Training moved on, or the program talked on. Where the traceback cuts another line in two, or
/// stands before all training, what follows may have been printed earlier and flushed at exit; a
/// bar, which goes to standard error as well, was not, nor a logger's lines, nor what came at several times.
bool LogReader::Survived(const Pending& held) const {
  if (held.exception.warned || bar_advances_ - held.at.bar_advances >= kAdvancesToSurvive) {
    return true;
  }
  if (held.early && bytes_ - held.at.bytes <= kStdioBufferBytes) {
    return progress_.finished() || arrivals_ - held.at.arrivals >= kAdvancesToSurvive ||
           logged_advances_ - held.at.logged_advances >= kAdvancesToSurvive;
  }
  return lines_since_end_ > kTeardownLinesMax ||
         progress_.advances() - held.at.advances >= kAdvancesToSurvive;
}

/// An exception after which training moved on was survived; one with nothing but clean-up after it
/// was not.
void LogReader::SettleExceptions(bool over) {
  std::vector<Pending> waiting;
  for (Pending& held : pending_) {
    const bool survived = Survived(held);
    if (!survived && !over) {
      waiting.push_back(std::move(held));
      continue;
    }
    held.exception.seen.ended_process = !survived;
    ended_after_bytes_ = survived ? ended_after_bytes_ : held.at.bytes;
    out_.Push(Event{.at = at_, .body = std::move(held.exception.seen)});
    push_progress_ = true;
  }
  pending_ = std::move(waiting);
}

}  // namespace whystop

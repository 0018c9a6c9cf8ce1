#include "cli/progress_line.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

namespace whystop {
namespace {

volatile sig_atomic_t interrupted = 0;
void OnInterrupt(int) { interrupted = 1; }

void Tell(const std::string& text) {
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(::isatty(STDERR_FILENO) != 0) {}

void ProgressLine::Show(const std::string& what, const std::string& left) {
  if (quiet_ || (!terminal_ && what == shown_)) {
    return;
  }
  shown_ = what;
  const std::string line = fmt::format("whystop: {}; {} left", what, left);
  Tell(terminal_ ? fmt::format("\r\x1b[K{:.150}", line) : line + "\n");
}

void ProgressLine::Clear() const {
  if (terminal_ && !quiet_ && !shown_.empty()) {
    Tell("\r\x1b[K");
  }
}

void NoteInterrupts() {
  struct sigaction action {};
  action.sa_handler = &OnInterrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool Interrupted() { return interrupted != 0; }

}  // namespace whystop

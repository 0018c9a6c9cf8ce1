#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include <optional>

#include "base/fd.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/run_follower.h"
#include "report/json_report.h"
#include "report/top_screen.h"

namespace whystop {
namespace {

constexpr int kRedrawMs = 1000;

/// Keys one by one and without an echo, until the end of its life.
class RawKeys {
 public:
  RawKeys() {
    if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
      termios raw = before_;
      raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      changed_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
    }
  }
  ~RawKeys() {
    if (changed_) {
      ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    }
  }
  RawKeys(const RawKeys&) = delete;
  RawKeys& operator=(const RawKeys&) = delete;

 private:
  termios before_{};
  bool changed_ = false;
};

/// The other screen of the terminal: what was there before comes back.
class OtherScreen {
 public:
  OtherScreen() { Print("\x1b[?1049h\x1b[?25l"); }
  ~OtherScreen() { Print("\x1b[?25h\x1b[?1049l"); }
  OtherScreen(const OtherScreen&) = delete;
  OtherScreen& operator=(const OtherScreen&) = delete;
};

std::string Picture(const RunFollower& follower) {
  const SeenRun seen = follower.See();
  return RenderTop(seen.view, seen.verdict, follower.LastLine(), StyleFor(STDOUT_FILENO));
}

/// True: q, Ctrl-C or the end of standard input.
bool WantsToLeave(const Fd& signal) {
  pollfd waiting[] = {{signal.get(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}};
  if (::poll(waiting, 2, kRedrawMs) <= 0) {
    return false;
  }
  if (waiting[0].revents != 0) {
    return true;
  }
  char key = 0;
  const ssize_t size = ReadSome(STDIN_FILENO, {&key, 1});
  return size <= 0 || key == 'q' || key == 'Q';
}

}  // namespace

int Top(const TopOptions& options) {
  const auto found = FindRecording(options.run);
  if (!found) {
    Complain(found.error());
    return kExitUsage;
  }
  const std::optional<std::string>& recording = *found;
  if (!recording) {
    Complain(options.run.empty() ? "no recording yet in " + HomeOfRecordings()
                                 : "'" + options.run + "' is no recording",
             "'whystop runs' lists the recordings");
    return kExitUsage;
  }
  auto follower = RunFollower::Open(*recording);
  if (!follower) {
    Complain(follower.error());
    return kExitUsage;
  }
  (*follower)->Pump();
  if (options.json) {
    Print(RenderJson((*follower)->See().verdict));
    return 0;
  }
  if (options.once || ::isatty(STDOUT_FILENO) == 0) {
    Print(Picture(**follower));
    return 0;
  }
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&signals, number);
  }
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  const Fd signal(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  std::string last;
  {
    const OtherScreen screen;
    const RawKeys keys;
    bool leave = false;
    while (!leave && (*follower)->alive()) {
      (*follower)->Pump();
      last = Picture(**follower);
      // Each line is cleared behind its text: no flicker, also over ssh.
      std::string shown = "\x1b[H";
      for (const char c : last) {
        shown += c == '\n' ? "\x1b[K\r\n" : std::string(1, c);
      }
      Print(shown + "\x1b[K\r\nq leaves; the run goes on\x1b[J");
      leave = WantsToLeave(signal);
    }
  }
  Print(Picture(**follower));  // What was seen last stays on the screen.
  return 0;
}

}  // namespace whystop

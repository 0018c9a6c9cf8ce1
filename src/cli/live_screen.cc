#include "cli/live_screen.h"

#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

#include "base/fd.h"
#include "cli/console.h"
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

Fd SignalsThatLeave() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    ::sigaddset(&signals, number);
  }
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  return Fd(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

}  // namespace

std::string PictureOf(const RunFollower& follower, const SeenRun& seen) {
  return RenderTop(seen.view, seen.verdict, follower.LastLine(), StyleFor(STDOUT_FILENO));
}

void ShowWhileAlive(RunFollower& follower, const std::string& leave,
                    const std::function<void(const SeenRun&)>& look) {
  const Fd signal = SignalsThatLeave();
  const OtherScreen screen;
  const RawKeys keys;
  bool wants_to_leave = false;
  while (!wants_to_leave && follower.alive()) {
    follower.Pump();
    const SeenRun seen = follower.See();
    look(seen);
    // Each line is cleared behind its text: no flicker, also over ssh.
    std::string shown = "\x1b[H";
    for (const char c : PictureOf(follower, seen)) {
      shown += c == '\n' ? "\x1b[K\r\n" : std::string(1, c);
    }
    Print(shown + "\x1b[K\r\n" + leave + "\x1b[J");
    wants_to_leave = WantsToLeave(signal);
  }
}

}  // namespace whystop

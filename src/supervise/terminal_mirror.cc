#include "supervise/terminal_mirror.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <iterator>

namespace whystop {
namespace {

std::optional<winsize> SizeOf(int terminal) {
  winsize size{};
  return ::ioctl(terminal, TIOCGWINSZ, &size) == 0 ? std::optional(size) : std::nullopt;
}

std::optional<termios> ModesOf(int terminal) {
  termios modes{};
  return ::tcgetattr(terminal, &modes) == 0 ? std::optional(modes) : std::nullopt;
}

bool Same(const winsize& a, const winsize& b) {
  return a.ws_row == b.ws_row && a.ws_col == b.ws_col && a.ws_xpixel == b.ws_xpixel &&
         a.ws_ypixel == b.ws_ypixel;
}

bool Same(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag &&
         a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}

}  // namespace

bool CopyWindowSize(int users_terminal, int job_terminal) {
  const auto size = SizeOf(users_terminal);
  const auto job_size = SizeOf(job_terminal);
  if (!size || !job_size || Same(*size, *job_size)) {
    return false;
  }
  return ::ioctl(job_terminal, TIOCSWINSZ, &*size) == 0;
}

ModeMirror::~ModeMirror() {
  if (carried_) {
    ::tcsetattr(channel_.user.get(), TCSANOW, &*channel_.user_modes);
  }
}

bool ModeMirror::Copy() {
  const auto modes = ModesOf(channel_.terminal.get());
  if (!modes || !channel_.user_modes || !channel_.job_modes || Same(*modes, *job_modes_last_)) {
    return false;
  }
  job_modes_last_ = modes;
  const bool back_to_start = Same(*modes, *channel_.job_modes);
  // With the job's own output modes on the user's terminal, what the program believes of it is
  // true.
  ::tcsetattr(channel_.user.get(), TCSANOW, back_to_start ? &*channel_.user_modes : &*modes);
  const bool changed = carried_ == back_to_start;
  carried_ = !back_to_start;
  return changed;
}

}  // namespace whystop

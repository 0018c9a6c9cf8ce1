#include "supervise/terminal_mirror.h"

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
  return a.ws_row == b.ws_row && a.ws_col == b.ws_col && a.ws_xpixel == b.ws_xpixel && a.ws_ypixel == b.ws_ypixel;
}

bool Same(const termios& a, const termios& b) {
  return a.c_iflag == b.c_iflag && a.c_oflag == b.c_oflag && a.c_cflag == b.c_cflag && a.c_lflag == b.c_lflag &&
         std::equal(std::begin(a.c_cc), std::end(a.c_cc), std::begin(b.c_cc));
}

}  // namespace

TerminalMirror::TerminalMirror(int users_terminal, int job_terminal)
    : users_terminal_(users_terminal),
      job_terminal_(job_terminal),
      size_(SizeOf(job_terminal)),
      users_modes_(ModesOf(users_terminal)),
      job_modes_(ModesOf(job_terminal)),
      job_modes_last_(job_modes_) {}

TerminalMirror::~TerminalMirror() {
  if (carried_) {
    ::tcsetattr(users_terminal_, TCSANOW, &*users_modes_);
  }
}

bool TerminalMirror::CopySize() {
  const auto size = SizeOf(users_terminal_);
  if (!size || (size_ && Same(*size, *size_))) {
    return false;
  }
  size_ = size;
  ::ioctl(job_terminal_, TIOCSWINSZ, &*size);
  return true;
}

void TerminalMirror::CopyModes() {
  const auto modes = ModesOf(job_terminal_);
  if (!modes || !users_modes_ || !job_modes_ || Same(*modes, *job_modes_last_)) {
    return;
  }
  job_modes_last_ = modes;
  const bool back_to_start = Same(*modes, *job_modes_);
  // With the job's own output modes on the user's terminal, what the program believes of it is true.
  ::tcsetattr(users_terminal_, TCSANOW, back_to_start ? &*users_modes_ : &*modes);
  carried_ = !back_to_start;
}

}  // namespace whystop

#include "cli/console.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/fd.h"
#include "base/shown_text.h"

namespace whystop {

void Print(std::string_view text) {
  [[maybe_unused]] const int fault = WriteAll(STDOUT_FILENO, text);
}

void PrintShown(std::string_view text) { Print(ShownLines(text)); }

void Complain(std::string_view what, std::string_view hint) {
  std::string text = "whystop: " + ShownLines(what);
  if (!hint.empty()) {
    text += "  hint: " + ShownLines(hint);
  }
  [[maybe_unused]] const int fault = WriteAll(STDERR_FILENO, text);
}

void Complain(const Error& error) { Complain(error.what, error.hint); }

namespace {

/// The locale decides as it does for every program: LC_ALL before LC_CTYPE before LANG.
bool LocaleIsUtf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): one thread.
    if (value != nullptr && *value != '\0') {
      const std::string_view text = value;
      return text.find("UTF-8") != text.npos || text.find("utf8") != text.npos;
    }
  }
  return false;
}

}  // namespace

TerminalStyle StyleFor(int fd) {
  TerminalStyle style;
  style.unicode = LocaleIsUtf8();
  if (::isatty(fd) == 0) {
    return style;
  }
  const char* no_colour = std::getenv("NO_COLOR");  // NOLINT(concurrency-mt-unsafe): one thread.
  style.colour = no_colour == nullptr || *no_colour == '\0';
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    style.width = std::min<int>(size.ws_col, 120);
  }
  return style;
}

}  // namespace whystop

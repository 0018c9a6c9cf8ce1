#pragma once

#include <string_view>

#include "base/result.h"
#include "report/terminal_report.h"

namespace whystop {

/// Writes to stdout; a reader that went away is no error of ours.
void Print(std::string_view text);
/// The same for plain text that names what others named: nothing in it reaches the terminal as a command.
void PrintShown(std::string_view text);
/// "whystop: what" and, where there is one, "  hint: next step", on stderr.
void Complain(const Error& error);
void Complain(std::string_view what, std::string_view hint = "");

/// Colour and width for text on this descriptor. Colour only on a terminal and never with NO_COLOR.
TerminalStyle StyleFor(int fd);

}  // namespace whystop

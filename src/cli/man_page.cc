#include <fmt/format.h>

#include "base/version.h"
#include "cli/command_table.h"

namespace whystop {
namespace {

/// Text as roff takes it: dashes stay dashes, a line that begins with a dot or quote is no request.
std::string Roff(std::string_view text) {
  std::string out;
  bool line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) {
      out += "\\&";
    }
    out += c == '-' ? "\\-" : c == '\\' ? "\\e" : std::string(1, c);
    line_start = c == '\n';
  }
  return out;
}

std::string OptionLine(const ShownOption& option) {
  std::string line;
  for (const std::string& name : option.names) {
    line += (line.empty() ? "" : ", ") + fmt::format("\\fB{}\\fR", Roff(name));
  }
  if (option.named && option.takes_value) {
    line += option.words.empty() ? " \\fIVALUE\\fR" : fmt::format(" {}", Roff(fmt::format("{}", fmt::join(option.words, "|"))));
  }
  return line;
}

std::string Synopsis(const ShownCommand& command) {
  std::string line = fmt::format("\\fBwhystop {}\\fR [\\fIOPTIONS\\fR]", Roff(command.name));
  for (const ShownOption& option : command.options) {
    if (!option.named) {
      line += fmt::format(" {}[\\fI{}\\fR{}]", option.offer == Offer::kCommands ? "[\\-\\-] " : "",
                          option.names.front(), option.many ? "..." : "");
    }
  }
  return line;
}

}  // namespace

std::string ManPage(const CommandTable& table) {
  std::string page = fmt::format(
      ".\\\" Written by 'whystop man-page' from the declaration of the command line.\n"
      ".TH WHYSTOP 1 \"\" \"whystop {}\" \"User Commands\"\n"
      ".SH NAME\nwhystop \\- why did my training stop, and is it learning?\n.SH SYNOPSIS\n",
      kVersion);
  for (const ShownCommand& command : table.commands) {
    page += Synopsis(command) + "\n.br\n";
  }
  page += fmt::format(".SH DESCRIPTION\n{}\n.PP\n.nf\n{}\n.fi\n.SH COMMANDS\n", Roff(table.description),
                      Roff(table.footer));
  for (const ShownCommand& command : table.commands) {
    page += fmt::format(".SS {}\n{}.\n", Synopsis(command), Roff(command.description));
    for (const ShownOption& option : command.options) {
      page += fmt::format(".TP\n{}\n{}\n", OptionLine(option), Roff(option.description));
    }
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", Roff(command.footer));
  }
  return page +
         ".SH ENVIRONMENT\n.TP\n\\fBWHYSTOP_HOME\\fR\nWhere recordings are kept; without it whystop/ in "
         "\\fBXDG_STATE_HOME\\fR, or else ~/.local/state/whystop.\n"
         ".TP\n\\fBNO_COLOR\\fR\nNo colours, also on a terminal.\n"
         ".SH EXIT STATUS\n\\fBrun\\fR returns the job's own status, 128 and the number of the signal that killed it; a Ctrl-C typed on "
         "its terminal ends it by that signal, as a script that waits for it expects. "
         "\\fBwhy\\fR returns 0 when nothing wrong was found, 1 when a fault was found, 2 for input that cannot be read, 3 "
         "for too little evidence. Other commands return 0, or 2 when they cannot do what was asked for.\n";
}

}  // namespace whystop

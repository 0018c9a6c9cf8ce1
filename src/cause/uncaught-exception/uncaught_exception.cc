#include <fmt/format.h>

#include <string>
#include <string_view>

#include "cause/evidence.h"
#include "cause/rank_facts.h"
#include "cause/weighers.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

struct Remedy {
  std::string_view type;
  std::string_view text;
};
constexpr Remedy kRemedies[] = {
    {"ModuleNotFoundError",
     "Install the module into the environment that runs the job, and try the import there: `python "
     "-c 'import NAME'`."},
    {"ImportError",
     "Compare the versions of the two packages: the name is not in the one that is installed, or a "
     "library is missing."},
    {"FileNotFoundError",
     "Check the path as the job sees it: relative paths start at its working folder, and nodes "
     "mount different disks."},
    {"NotADirectoryError", "Check the path as the job sees it: one of its parts is a file."},
    {"PermissionError",
     "Check owner and rights of the path for the user that runs the job, container users "
     "included."},
    {"AttributeError",
     "Compare the installed version with the one that the code was written for, and look for a "
     "None in place of an object."},
    {"SyntaxError",
     "Mend the line; a newer syntax than the interpreter knows shows in the same way."},
    {"IndentationError", "Mend the line: its block is not where Python looks for it."},
    {"TabError", "Write the file's indentation with blanks or with tabs, not with both."},
    {"TypeError",
     "Compare the call with the function's signature: it may be of another version of the package, or of a None "
     "in place of a value."},
    {"UnicodeDecodeError",
     "Name the file's encoding when opening it, or leave out what is no text."},
};

/// Advice for this exception alone: nobody looks for a wrong argument with a batch of one on the CPU.
void AddFixesFor(const ExceptionSeen& exception, Hypothesis& out) {
  for (const Remedy& remedy : kRemedies) {
    if (exception.type == remedy.type) {
      out.Fix(std::string(remedy.text));
    }
  }
  if (!exception.first_type.empty() && exception.first_type != exception.type) {
    out.Fix("Read the chained traceback from the top: the first exception is the origin.");
  }
  if (exception.in_worker) {
    out.Fix("Reproduce it with `num_workers=0`: the traceback is then the program's own.");
  }
  if (exception.message.find("CUDA") != std::string::npos) {
    out.Fix("Run with `CUDA_LAUNCH_BLOCKING=1` so that the traceback points at the right line.");
  }
}

}  // namespace

void WeighUncaughtException(const CaseFile& run, Hypothesis& out) {
  const ExceptionSeen* last = FindEndingException(run);
  if (last == nullptr || last->type == "KeyboardInterrupt") {
    return;
  }
  // What tells that something failed elsewhere is a lead, where nothing else is known.
  const bool elsewhere = IsLaunchersReport(*last) || IsEchoOfAnotherRank(*last);
  const std::string text = RankPrefix(run, last->rank) + DescribeException(*last);
  Evidence evidence = elsewhere ? Supports("exception", text) : Decisive("exception", text);
  evidence.place = last->place;
  // The text names the line of code; a log's reader also wants to find the traceback.
  if (const StackPlace at = InnermostUsersFrame(*last);
      at.found && (run.watched || last->last_line == 0)) {
    evidence.place = {at.file, at.line};
  }
  out.Add(std::move(evidence));
  AddFixesFor(*last, out);
  if (!last->first_type.empty() && last->first_type != last->type) {
    out.Add(Supports("exception", fmt::format("the chain began with {}: {}", last->first_type,
                                              last->first_message)));
  }
}

}  // namespace whystop

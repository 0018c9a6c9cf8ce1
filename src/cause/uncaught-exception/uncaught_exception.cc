#include <fmt/format.h>

#include "cause/evidence.h"
#include "cause/exception_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighUncaughtException(const CaseFile& run, Hypothesis& out) {
  const ExceptionSeen* last = FindEndingException(run);
  if (last == nullptr || last->type == "KeyboardInterrupt") {
    return;
  }
  // A launcher's report says that something failed elsewhere: a lead, where nothing else is known.
  Evidence evidence = IsLaunchersReport(*last) ? Supports("exception", DescribeException(*last))
                                               : Decisive("exception", DescribeException(*last));
  evidence.place = last->place;
  if (const StackPlace at = InnermostUsersFrame(*last); at.found) {
    evidence.place = {at.file, at.line};
  }
  out.Add(std::move(evidence));
  if (!last->first_type.empty() && last->first_type != last->type) {
    out.Add(Supports("exception", fmt::format("the chain began with {}: {}", last->first_type, last->first_message)));
  }
}

}  // namespace whystop

#include <string>
#include <string_view>

#include "base/parse.h"
#include "cause/evidence.h"
#include "cause/weighers.h"
#include "model/observations.h"
#include "sign/exception_facts.h"
#include "sign/exit_reason.h"
#include "sign/framework_stop.h"
#include "sign/loop_exit.h"
#include "sign/observed.h"

namespace whystop {
namespace {

/// The last line of the user's own in a traceback that came as text: `  File "train.py", line 9, in loss_of`.
Place UsersLineIn(std::string_view text) {
  Place found;
  for (std::size_t at = text.find("File \""); at != std::string_view::npos; at = text.find("File \"", at + 1)) {
    const std::string_view rest = text.substr(at + 6);
    const std::string_view file = rest.substr(0, rest.find('"'));
    const std::size_t line = rest.find(", line ");
    if (line == std::string_view::npos || file.find("site-packages") != std::string_view::npos) {
      continue;
    }
    const std::string_view digits = rest.substr(line + 7);
    found = {std::string(file),
             ParseWhole<std::int64_t>(digits.substr(0, digits.find_first_not_of("0123456789"))).value_or(0)};
  }
  return found;
}

/// torch.autograd.detect_anomaly raised: it names the operation, and its warning the forward line.
void WeighAnomaly(const CaseFile& run, Hypothesis& out) {
  const ExceptionSeen* ending = FindEndingException(run);
  if (ending == nullptr || ending->message.find(" returned nan values in its ") == std::string::npos) {
    return;
  }
  Evidence evidence = Decisive("exception", "anomaly detection stopped at the first NaN of a backward pass: " +
                                                ending->message.substr(0, ending->message.find('\n')));
  evidence.place = ending->place;
  for (const Observation* warning : ObservationsOf(run, "warning")) {
    const auto told = As<seen::Warning>(*warning);
    if (told.message.value_or("").find("Traceback of forward call") != std::string::npos) {
      const Place at = UsersLineIn(*told.message);
      if (!at.file.empty()) {
        evidence.place = at;
        evidence.text += "; the forward call stands at " + at.file.substr(at.file.find_last_of('/') + 1) + ":" +
                         std::to_string(at.line);
      }
    }
  }
  out.Add(std::move(evidence));
}

}  // namespace

void WeighStopOnNan(const CaseFile& run, Hypothesis& out) {
  WeighAnomaly(run, out);
  const Observation* stop = FrameworkStop(run);
  if (stop != nullptr && ReasonOfStop(run, *stop) == ExitReason::kNotFinite) {
    Evidence evidence =
        Decisive("framework", DescribeStop(*stop) + ", because the loss was no longer finite");
    evidence.place = PlaceOf(*stop);
    out.Add(std::move(evidence));
    return;
  }
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kNotFinite) {
    return;
  }
  Evidence evidence =
      Decisive("loop", "the loop was left by " + DescribeExit(*exit) + DescribeTurn(*exit));
  evidence.place = PlaceOf(*exit);
  out.Add(std::move(evidence));
}

}  // namespace whystop

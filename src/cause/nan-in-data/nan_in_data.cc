#include "base/human.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {

void WeighNanInData(const CaseFile& run, Hypothesis& out) {
  const Finding* data = run.FindFirst("data/not-finite");
  const Finding* lost = LossLost(run);
  const auto reports = ObservationsOf(run, "nonfinite");
  if (data == nullptr && !reports.empty() && TextOf(*reports.front(), "first") == "input") {
    Evidence evidence = Decisive("tensor", "the first value that was not finite stood in what the model was given (" +
                                               TextOf(*reports.front(), "operand_shape") + ", used by " + TextOf(*reports.front(), "operation") + ")" +
                                               (reports.front()->step ? ", at step " + HumanCount(*reports.front()->step) : ""));
    evidence.step_from = reports.front()->step;
    out.Add(std::move(evidence));
    return;
  }
  if (data == nullptr || !NanSeen(run)) {
    return;
  }
  if (lost != nullptr && lost->step_from && data->step_from && *data->step_from > *lost->step_from + 1) {
    return;  // The loss was lost before: what the model was given did not do it.
  }
  std::string text = HumanNumber(data->Number("values").value_or(0)) + " values of " + data->series + " were NaN or infinite";
  if (data->step_from) {
    text += " at step " + HumanCount(*data->step_from);
  }
  Evidence evidence = Decisive("batch", text + ", before the model touched them", data->facts);
  evidence.step_from = data->step_from;
  out.Add(std::move(evidence));
}

}  // namespace whystop

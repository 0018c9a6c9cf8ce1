#include <algorithm>
#include <string_view>

#include "base/human.h"
#include "base/parse.h"
#include "cause/evidence.h"
#include "cause/training_facts.h"
#include "cause/weighers.h"

namespace whystop {
namespace {

/// "16x30x1" is 480 values.
double ValuesOf(std::string_view shape) {
  double values = 1;
  while (!shape.empty()) {
    const std::size_t size = std::min(shape.find('x'), shape.size());
    values *= ParseWhole<double>(shape.substr(0, size)).value_or(0);
    shape.remove_prefix(std::min(shape.size(), size + 1));
  }
  return values;
}

/// Infinity passes a sigmoid unseen and becomes NaN on the way back: the weights may be lost before
/// the input is looked at. What came from outside the graph and has as many values as a batch is
/// the batch.
bool StoodInTheInput(const CaseFile& run, const Observation& report) {
  const Observation* input = ModelInput(run);
  const std::string shape = TextOf(report, "operand_shape");
  return TextOf(report, "first") == "input" ||
         (NumberOf(report, "operand_from_outside") > 0 && input != nullptr && !shape.empty() &&
          NumberOf(report, "report") <= 2 && ValuesOf(shape) == ValuesOf(TextOf(*input, "shape")));
}

}  // namespace

void WeighNanInData(const CaseFile& run, Hypothesis& out) {
  const Finding* data = run.FindFirst("data/not-finite");
  const Finding* lost = LossLost(run);
  const auto reports = ObservationsOf(run, "nonfinite");
  const auto in_input =
      std::find_if(reports.begin(), reports.end(),
                   [&run](const Observation* report) { return StoodInTheInput(run, *report); });
  if (data == nullptr && in_input != reports.end()) {
    const Observation& report = **in_input;
    Evidence evidence = Decisive(
        "tensor", "a value that was not finite stood in what the model was given (" +
                      TextOf(report, "operand_shape") + ", used by " + TextOf(report, "operation") +
                      ")" + (report.step ? ", at step " + HumanCount(*report.step) : ""));
    evidence.step_from = report.step;
    out.Add(std::move(evidence));
    return;
  }
  if (data == nullptr || !NanSeen(run) || SpoiltOnTheWay(run)) {
    return;
  }
  // Few batches are looked at: the bad one may be seen long after it did its work. But what a lost
  // model gives itself to read is lost too, nearly all of it.
  const bool by_itself = data->Number("values").value_or(0) > 0.5 * data->Number("of").value_or(0);
  if (by_itself && lost != nullptr && lost->step_from && data->step_from &&
      *data->step_from > *lost->step_from + 1) {
    return;
  }
  std::string text = HumanNumber(data->Number("values").value_or(0)) + " values of " +
                     data->series + " were NaN or infinite";
  if (data->step_from) {
    text += " at step " + HumanCount(*data->step_from);
  }
  Evidence evidence = Decisive("batch", text + ", before the model touched them", data->facts);
  evidence.step_from = data->step_from;
  out.Add(std::move(evidence));
}

}  // namespace whystop

#include "sign/answers.h"

#include <cmath>

#include "model/observations.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {

double OutputSize(const Observation& loss_call) {
  const auto loss_call_seen = As<seen::LossCall>(loss_call);
  return std::hypot(loss_call_seen.input_mean.value_or(0), loss_call_seen.input_std.value_or(0));
}

std::optional<double> SpreadOfAnswers(const Observation& loss_call) {
  const auto loss_call_seen = As<seen::LossCall>(loss_call);
  const auto spread = loss_call_seen.rows_std_mean;
  // One value a sample has no rows. Targets that differ say that there were several samples.
  const bool no_rows = loss_call_seen.input_shape.value_or("").find('x') == std::string::npos;
  return !spread && no_rows && loss_call_seen.target_std.value_or(0) > 0 ? loss_call_seen.input_std
                                                                     : spread;
}

bool GivesOneAnswer(const Observation& loss_call, double share) {
  const auto spread = SpreadOfAnswers(loss_call);
  return spread && *spread < share * OutputSize(loss_call);
}

bool GivesOneAnswerBesideTargets(const Observation& loss_call, double share) {
  const auto seen = As<seen::LossCall>(loss_call);
  const auto spread = SpreadOfAnswers(loss_call);
  const bool compares_numbers = MentionsAny(seen.function.value_or(""), {"mse_loss", "l1_loss", "huber_loss"});
  return spread && compares_numbers && *spread < share * seen.target_std.value_or(0);
}

bool ConstantFromTheStart(const CaseFile& run) {
  const auto calls = ObservationsOf(run, "loss-call");
  return !calls.empty() && OrZero(As<seen::LossCall>(*calls.front()).call) == 1 &&
         GivesOneAnswer(*calls.front(), 1e-6);
}

}  // namespace whystop

#include "sign/exit_reason.h"

#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/parse.h"
#include "model/observations.h"
#include "sign/loop_exit.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// "loss != loss": only NaN differs from itself.
bool ComparesWithItself(std::string_view condition) {
  const std::size_t at = condition.find("!=");
  if (at == std::string_view::npos) {
    return false;
  }
  const std::string_view left = Trim(condition.substr(0, at));
  const std::string_view right = Trim(condition.substr(at + 2));
  const std::size_t word = left.find_last_of(" (") + 1;
  return !right.empty() && left.substr(word) == right.substr(0, right.find_first_of(" )"));
}

bool AnyValueNotFinite(const Observation& exit) {
  for (const auto& [name, value] : ExitValues(exit)) {
    if (!std::isfinite(value) && MentionsAny(name, {"loss", "val", "err", "norm", "metric"})) {
      return true;
    }
  }
  return false;
}

/// The name that an expression ends with: "batch_loss.item()" of "not batch_loss.item()", "loss" of
/// "float(loss)".
std::string_view LastName(std::string_view expression) {
  while (expression.ends_with(")")) {
    const std::size_t open = expression.rfind('(');
    if (open == std::string_view::npos) {
      break;
    }
    const std::string_view inside = Trim(expression.substr(open + 1, expression.size() - open - 2));
    expression = inside.empty() ? expression.substr(0, open) : inside;
  }
  return expression.substr(expression.find_last_of(" (") + 1);
}

/// "step == 600" of a loop that has no end of its own: that is its end.
bool CountsToItsEnd(const Observation& exit) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  const std::string variable = exit_seen.variable.value_or("");
  const std::string condition = exit_seen.condition.value_or("");
  if (exit_seen.planned || variable.empty() || !condition.starts_with(variable + " ")) {
    return false;
  }
  const std::string rest = condition.substr(variable.size() + 1);
  return (rest.starts_with("==") || rest.starts_with(">")) && !MentionsAny(rest, {" and ", " or "});
}

/// The name that a value goes by: "val_acc" of "self.val_acc" and of "logs.get('val_acc', 0)".
std::string_view NameOfValue(std::string_view text) {
  const std::size_t end = text.ends_with(')') || text.ends_with(']') ? text.find_last_of("'\"") : text.npos;
  const std::size_t begin = end == text.npos || end == 0 ? text.npos : text.find_last_of("'\"", end - 1);
  return begin == text.npos ? LastName(text) : text.substr(begin + 1, end - begin - 1);
}

/// What the probe read from the syntax tree and the values, where it could.
std::optional<ExitReason> ReasonByMeaning(const Observation& exit) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  const std::string meaning = exit_seen.meaning.value_or("");
  if (meaning == "patience") {
    return ExitReason::kPatience;
  }
  if (meaning == "not-finite") {
    return ExitReason::kNotFinite;
  }
  if (meaning == "time") {
    // Without a plan of epochs or steps the time is the plan.
    return exit_seen.planned ? ExitReason::kTimeBudget : ExitReason::kEnd;
  }
  if (meaning == "rate") {
    return ExitReason::kRateFloor;
  }
  const std::string decided = exit_seen.decided.value_or("");
  const std::string_view compared = NameOfValue(Trim(std::string_view(decided).substr(0, decided.find('<'))));
  if (meaning == "target" && decided.find('<') != std::string::npos && (compared == "lr" || compared == "learning_rate")) {
    return ExitReason::kRateFloor;
  }
  return meaning == "target" && !AnyValueNotFinite(exit) ? std::optional(ExitReason::kTarget)
                                                         : std::nullopt;
}

/// "loss < 0.01", "acc >= target": whether a quality was compared in the direction in which it
/// improves. Of a `while` it is the direction in which it gets worse: the loop goes on as long.
bool ReachedAGoal(std::string_view condition, bool of_while = false) {
  const char less = of_while ? '>' : '<';
  const char more = of_while ? '<' : '>';
  for (std::size_t at = condition.find_first_of("<>"); at != std::string_view::npos;
       at = condition.find_first_of("<>", at + 1)) {
    const std::string_view before = Trim(condition.substr(0, at));
    const std::string_view left = NameOfValue(before);
    // A tensor's single value that is to be small is a loss, whatever its name.
    const bool small =
        condition[at] == less &&
        (before.ends_with(".item()") ||
         MentionsAny(left, {"loss", "err", "perplexity", "mse", "mae", "diff", "delta"}));
    const bool high = condition[at] == more && MentionsAny(left, {"acc", "score", "reward", "f1",
                                                                  "auc", "map", "iou", "bleu"});
    if (small || high) {
      return true;
    }
  }
  return false;
}

}  // namespace

ExitReason ReasonOf(const Observation* exit) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  if (exit == nullptr) {
    return ExitReason::kNotKnown;
  }
  const std::string how = exit_seen.how.value_or("");
  const auto planned = exit_seen.planned;
  const auto turn = exit_seen.turn;
  const std::string condition = exit_seen.condition.value_or("") + " " + exit_seen.flag_condition.value_or("");
  const std::string words = condition + " " + exit_seen.values.value_or("") + " " + exit_seen.flag.value_or("");
  // A `while` that ended before its count did: another part of its condition turned false.
  const bool of_while = how == "end" && !exit_seen.condition.value_or("").empty() &&
                        (!planned || (turn && *turn < *planned));
  if (how == "end" && !of_while) {
    return ExitReason::kEnd;
  }
  if (const auto known = ReasonByMeaning(*exit); known && ErrorOf(*exit).empty()) {
    return *known;
  }
  if (how != "raise" && !ErrorOf(*exit).empty()) {
    return ExitReason::kError;
  }
  if (MentionsAny(condition, {"isnan", "isfinite", "isinf", "nan"}) ||
      ComparesWithItself(condition) || AnyValueNotFinite(*exit)) {
    return ExitReason::kNotFinite;
  }
  if (how == "exception") {
    return ExitReason::kNotKnown;  // The exception itself is the reason.
  }
  if (MentionsAny(words, {"patience", "wait", "no_improve", "noimprove", "bad_epochs", "stale",
                          "stagna", "early_stop", "earlystop", "stopper", "without_improve",
                          "epochs_no", "not_improv", "plateau", "counter"})) {
    return ExitReason::kPatience;
  }
  if (planned && turn && *turn >= *planned) {
    return ExitReason::kEnd;
  }
  if (CountsToItsEnd(*exit)) {
    return ExitReason::kStepBudget;
  }
  if (!of_while &&
      MentionsAny(condition, {"max_step", "max_iter", "total_step", "total_iter", "num_step",
                              "n_step", "budget", "max_train", "max_update"})) {
    return ExitReason::kStepBudget;
  }
  if (ReachedAGoal(condition, of_while)) {
    return ExitReason::kTarget;
  }
  if (of_while && !planned) {
    return ExitReason::kEnd;
  }
  const bool flagged = exit_seen.flag_condition.value_or("").empty() && MentionsAny(condition, {"stop"});
  return flagged ? ExitReason::kStopFlag : ExitReason::kOther;
}

}  // namespace whystop

#include "sign/loop_facts.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/human.h"
#include "base/parse.h"
#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/training_facts.h"

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
  const std::string variable = TextOf(exit, "variable");
  const std::string condition = TextOf(exit, "condition");
  if (exit.Number("planned") || variable.empty() || !condition.starts_with(variable + " ")) {
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
  const std::string meaning = TextOf(exit, "meaning");
  if (meaning == "patience") {
    return ExitReason::kPatience;
  }
  if (meaning == "not-finite") {
    return ExitReason::kNotFinite;
  }
  if (meaning == "time") {
    // Without a plan of epochs or steps the time is the plan.
    return exit.Number("planned") ? ExitReason::kTimeBudget : ExitReason::kEnd;
  }
  const std::string decided = TextOf(exit, "decided");
  const std::string_view compared = NameOfValue(Trim(std::string_view(decided).substr(0, decided.find('<'))));
  if (meaning == "target" && decided.find('<') != std::string::npos && (compared == "lr" || compared == "learning_rate")) {
    return ExitReason::kRateFloor;
  }
  return meaning == "target" && !AnyValueNotFinite(exit) ? std::optional(ExitReason::kTarget)
                                                         : std::nullopt;
}

/// "Timer", "_check_time_remaining", "TimeLimitCallback": one of the words that a name is made of is about time.
bool IsAboutTime(std::string_view name) {
  std::string words = "_";
  for (const char letter : name) {
    const bool upper = letter >= 'A' && letter <= 'Z';
    words += upper && words.back() != '_' ? "_" : "";
    words += upper ? static_cast<char>(letter - 'A' + 'a') : letter;
  }
  words += "_";
  constexpr std::string_view kTime[] = {"_time_", "_timer_", "_timeout_", "_walltime_", "_deadline_", "_elapsed_"};
  return std::any_of(std::begin(kTime), std::end(kTime), [&words](std::string_view word) {
    return words.find(word) != std::string::npos;
  });
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

bool LeftForALossNotFinite(const CaseFile& run) {
  const Observation* exit = FinalExit(run);
  if (ReasonOf(exit) != ExitReason::kNotFinite) {
    return false;
  }
  bool seen = false;
  for (const auto& [name, value] : ExitValues(*exit)) {
    if (!std::isfinite(value)) {
      if (!MentionsAny(name, {"val", "test", "dev", "best"})) {
        return true;
      }
      seen = true;
    }
  }
  return !seen;
}

namespace {

/// An exception left a loop inside, and no step later this one was over, with turns left to make: it went through both.
const Observation* InnerError(const CaseFile& run, const Observation& last) {
  const auto planned = last.Number("planned");
  const auto turn = last.Number("turn");
  if (TextOf(last, "how") != "end" || !planned || !turn || *turn >= *planned) {
    return &last;
  }
  const Observation* found = &last;
  for (const Observation* one : OfTraining(run, "loop-exit")) {
    const bool inside = NumberOf(*one, "level") > NumberOf(last, "level");
    if (inside && one->step && one->step == last.step && TextOf(*one, "how") == "exception") {
      found = one;
    }
  }
  return found;
}

}  // namespace

const Observation* FinalExit(const CaseFile& run) {
  const Observation* last = LastOfTraining(run, "loop-exit");
  if (last == nullptr) {
    return nullptr;
  }
  last = InnerError(run, *last);
  const std::string how = TextOf(*last, "how");
  const bool inner = NumberOf(*last, "level") > 0;
  if (inner && (how == "break" || how == "end")) {
    return nullptr;
  }
  // An exception behind the loop ended the program, whatever ended the loop; unless it is what a
  // program says of its own NaN.
  const bool left_quietly = how == "break" || how == "return" || how == "end";
  const bool raised_later = left_quietly && ErrorOf(*last).empty() &&
                            ReasonOf(last) != ExitReason::kNotFinite &&
                            FindEndingException(run) != nullptr;
  return raised_later ? nullptr : last;
}

ExitReason ReasonOf(const Observation* exit) {
  if (exit == nullptr) {
    return ExitReason::kNotKnown;
  }
  const std::string how = TextOf(*exit, "how");
  const auto planned = exit->Number("planned");
  const auto turn = exit->Number("turn");
  const std::string condition = TextOf(*exit, "condition") + " " + TextOf(*exit, "flag_condition");
  const std::string words = condition + " " + TextOf(*exit, "values") + " " + TextOf(*exit, "flag");
  // A `while` that ended before its count did: another part of its condition turned false.
  const bool of_while = how == "end" && !TextOf(*exit, "condition").empty() &&
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
  const bool flagged = TextOf(*exit, "flag_condition").empty() && MentionsAny(condition, {"stop"});
  return flagged ? ExitReason::kStopFlag : ExitReason::kOther;
}

std::string ErrorOf(const Observation& exit) {
  const std::string type = TextOf(exit, "error_type");
  const std::string condition = TextOf(exit, "condition");
  const std::size_t at = condition.rfind("except ");
  if (!type.empty() || at == std::string::npos) {
    return type;
  }
  return condition.substr(at + 7, condition.find(' ', at + 7) - at - 7);
}

std::string DescribeExit(const Observation& exit) {
  const std::string path = TextOf(exit, "file");
  const std::string where =
      path.substr(path.find_last_of('/') + 1) + ":" + HumanNumber(NumberOf(exit, "line"), 9);
  const std::string condition = TextOf(exit, "condition");
  const bool of_while = TextOf(exit, "how") == "end" && !condition.empty();
  std::string text = of_while ? "`while " + condition + "` at " + where + " turned false"
                              : "`" + TextOf(exit, "how") + "` at " + where;
  if (!condition.empty() && !of_while) {
    text += " under `" + condition + "`";
  }
  if (!TextOf(exit, "flag").empty()) {
    text += ", set by `" + TextOf(exit, "flag_condition") + "` at line " +
            HumanNumber(NumberOf(exit, "flag_line"), 9);
  }
  if (!TextOf(exit, "values").empty()) {
    text += " (" + TextOf(exit, "values") + ")";
  }
  if (exit.Number("seen") == 0.0) {
    text += " (by elimination: nobody saw it taken, but no other way out fits)";
  }
  return text;
}

Place PlaceOf(const Observation& exit) {
  return {TextOf(exit, "file"), WholeOf(NumberOf(exit, "line"))};
}

std::string DescribeTurn(const Observation& exit) {
  const auto turn = exit.Number("turn");
  const auto planned = exit.Number("planned");
  if (!turn) {
    return {};
  }
  const std::string role = TextOf(exit, "role");
  const std::string unit = role == "epochs" ? "epoch " : role == "steps" ? "step " : "turn ";
  return " in " + unit + HumanNumber(*turn, 9) + (planned ? " of " + HumanNumber(*planned, 9) : "");
}

namespace {

std::optional<PlanKept> PlanWithoutAWayOut(const CaseFile& run) {
  const auto told = OfTraining(run, "loop-plan");
  const double levels = told.empty() ? 0 : NumberOf(*told.back(), "levels");
  if (levels < 1 || static_cast<double>(told.size()) < levels) {
    return std::nullopt;
  }
  PlanKept kept{.planned = 1};
  for (auto level = told.end() - static_cast<std::ptrdiff_t>(levels); level != told.end();
       ++level) {
    const double planned = NumberOf(**level, "planned");
    if (TextOf(**level, "kind") != "for" || NumberOf(**level, "exits") > 0 || planned < 1) {
      return std::nullopt;
    }
    kept.planned *= planned;
    kept.epochs = TextOf(**level, "role") == "epochs" ? planned : kept.epochs;
  }
  for (const char* what : {"steps", "backwards", "loss_calls", "batches"}) {
    kept.made = std::max(kept.made, Counted(run, what).value_or(0));
  }
  return kept;
}

}  // namespace

std::optional<PlanKept> LeftByAnException(const CaseFile& run) {
  constexpr double kShareMax = 0.75;  // Epochs may differ in length.
  const auto kept = PlanWithoutAWayOut(run);
  if (!kept || kept->made < 1 || kept->made > kShareMax * kept->planned || run.ExitCode() != 0 ||
      run.job_alive || !run.signals.empty() || LastOfTraining(run, "loop-exit") != nullptr ||
      FrameworkStop(run) != nullptr) {
    return std::nullopt;
  }
  // A loop that leaves most of its turns out makes few steps and yet comes to its end.
  const bool near_its_end =
      kept->epochs > 0
          ? run.progress.epoch.value_or(0) + 1 > kShareMax * std::max(kept->epochs, 2.0)
          : static_cast<double>(run.progress.step.value_or(0)) > kShareMax * kept->planned;
  return near_its_end ? std::nullopt : kept;
}

const Observation* LastFailedCall(const CaseFile& run) {
  const Observation* failed = run.FindObservation("framework-failed");
  const Observation* end = run.FindObservation("framework-end");
  const bool trained_again = failed != nullptr && end != nullptr &&
                             TextOf(*end, "failed").empty() && end->step && failed->step &&
                             *end->step > *failed->step;
  return trained_again ? nullptr : failed;
}

std::string DescribeFrameworkEpoch(const Observation& seen) {
  if (!seen.Number("epoch")) {
    return {};
  }
  return " in epoch " + HumanNumber(NumberOf(seen, "epoch"), 9) +
         (seen.Number("epochs") ? " of " + HumanNumber(NumberOf(seen, "epochs"), 9) : "");
}

const Observation* FrameworkStop(const CaseFile& run) { return StopRequest(run); }

ExitReason ReasonOfStop(const CaseFile& run, const Observation& stop) {
  const std::string words = TextOf(stop, "who") + " " + TextOf(stop, "source");
  const bool counts = stop.Number("patience") || stop.Number("early_stopping_patience");
  if (!counts && SomeLossLost(run) && MentionsAny(words, {"nan", "Nan", "NaN", "finite"})) {
    return ExitReason::kNotFinite;
  }
  if (!counts && IsAboutTime(TextOf(stop, "who") + "_" + TextOf(stop, "function"))) {
    return ExitReason::kTimeBudget;
  }
  const ExitReason said =
      TextOf(stop, "condition").empty() ? ExitReason::kNotKnown : ReasonOf(&stop);
  if (said == ExitReason::kNotFinite || said == ExitReason::kTarget ||
      said == ExitReason::kPatience || said == ExitReason::kStepBudget ||
      said == ExitReason::kTimeBudget) {
    return said;
  }
  return counts ? ExitReason::kPatience : ExitReason::kStopFlag;
}

std::string DescribeStop(const Observation& stop) {
  const std::string path = TextOf(stop, "file");
  const std::string condition = TextOf(stop, "condition");
  const std::string values = TextOf(stop, "values");
  std::string text = TextOf(stop, "who") + "." + TextOf(stop, "function") +
                     " set the stop flag of " + TextOf(stop, "framework") + " at " +
                     path.substr(path.find_last_of('/') + 1) + ":" +
                     HumanNumber(NumberOf(stop, "line"), 9);
  text += condition.empty() ? "" : " under `" + condition + "`";
  text += values.empty() ? "" : " (" + values + ")";
  return text + DescribeFrameworkEpoch(stop);
}

std::vector<std::pair<std::string, double>> ExitValues(const Observation& exit) {
  std::vector<std::pair<std::string, double>> values;
  const std::string text = TextOf(exit, "values");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(", ", at), text.size());
    const std::string_view pair = std::string_view(text).substr(at, comma - at);
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos) {
      if (const auto number = ParseWhole<double>(Trim(pair.substr(equals + 1)))) {
        values.emplace_back(std::string(Trim(pair.substr(0, equals))), *number);
      }
    }
    at = comma + 2;
  }
  return values;
}

}  // namespace whystop

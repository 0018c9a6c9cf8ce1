#include "sign/loop_exit.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "base/human.h"
#include "base/parse.h"
#include "model/observations.h"
#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/exit_reason.h"
#include "sign/observed.h"
#include "sign/words.h"

namespace whystop {
namespace {

/// An exception left a loop inside, and no step later this one was over, with turns left to make: it went through both.
const Observation* InnerError(const CaseFile& run, const Observation& last) {
  const auto last_seen = As<seen::LoopExit>(last);
  const auto planned = last_seen.planned;
  const auto turn = last_seen.turn;
  if (last_seen.how != "end" || !planned || !turn || *turn >= *planned) {
    return &last;
  }
  const Observation* found = &last;
  for (const Observation* one : OfTraining(run, "loop-exit")) {
    const auto one_seen = As<seen::LoopExit>(one);
    const bool inside = OrZero(one_seen.level) > OrZero(last_seen.level);
    if (inside && one->step && one->step == last.step && one_seen.how == "exception") {
      found = one;
    }
  }
  return found;
}

/// Folds, restarts, a sweep: where the loop around the trainings ran to its end, how the last training was left is told by its own loop.
const Observation* InsideTheFolds(const CaseFile& run, const Observation& last) {
  const auto last_seen = As<seen::LoopExit>(last);
  if (last_seen.role != "outer" || last_seen.how != "end" || last_seen.condition) {
    return &last;
  }
  const Observation* found = &last;
  for (const Observation* one : OfTraining(run, "loop-exit")) {
    found = As<seen::LoopExit>(one).role == "epochs" ? one : found;
  }
  return found;
}

/// How a loop of a program without a framework was left, where the program printed just that count: it may have other loops.
const Observation* ExitThatWasPrinted(const CaseFile& run) {
  const Progress& printed = run.progress;
  for (const Observation* exit : ObservationsOf(run, seen::ModuleLoopExit::kKind)) {
    const auto seen = As<seen::ModuleLoopExit>(*exit);
    const auto fits = [&seen](auto done, auto planned) {
      const bool same_plan = !planned || (seen.planned && static_cast<double>(*planned) == static_cast<double>(*seen.planned));
      return done && same_plan && seen.turn && std::abs(static_cast<double>(*done) - static_cast<double>(*seen.turn)) <= 1;
    };
    if (run.FindObservation("loop-plan") == nullptr && (fits(printed.epoch, printed.epochs_planned) || fits(printed.step, printed.steps_planned))) {
      return exit;
    }
  }
  return nullptr;
}

}  // namespace

const Observation* FinalExit(const CaseFile& run) {
  const Observation* last = LastOfTraining(run, "loop-exit");
  if (last == nullptr) {
    return ExitThatWasPrinted(run);
  }
  last = InnerError(run, *InsideTheFolds(run, *last));
  const auto last_seen = As<seen::LoopExit>(last);
  const std::string how = last_seen.how.value_or("");
  const bool inner = OrZero(last_seen.level) > 0 && last_seen.role != "epochs";
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

std::string ErrorOf(const Observation& exit) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  const std::string type = exit_seen.error_type.value_or("");
  const std::string condition = exit_seen.condition.value_or("");
  const std::size_t at = condition.rfind("except ");
  if (!type.empty() || at == std::string::npos) {
    return type;
  }
  return condition.substr(at + 7, condition.find(' ', at + 7) - at - 7);
}

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

std::string DescribeExit(const Observation& exit) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  const std::string path = exit_seen.file.value_or("");
  const std::string where =
      path.substr(path.find_last_of('/') + 1) + ":" + HumanNumber(OrZero(exit_seen.line), 9);
  const std::string condition = exit_seen.condition.value_or("");
  if (exit_seen.how == "abandoned") {
    return "the end of the process, while the thread that runs the loop at " + where + " was still in it";
  }
  const bool of_while = exit_seen.how == "end" && !condition.empty();
  std::string text = of_while ? "`while " + condition + "` at " + where + " turned false"
                              : "`" + exit_seen.how.value_or("") + "` at " + where;
  if (!condition.empty() && !of_while) {
    text += " under `" + condition + "`";
  }
  if (!exit_seen.flag.value_or("").empty()) {
    text += ", set by `" + exit_seen.flag_condition.value_or("") + "` at line " +
            HumanNumber(OrZero(exit_seen.flag_line), 9);
  }
  if (!exit_seen.values.value_or("").empty()) {
    text += " (" + exit_seen.values.value_or("") + ")";
  }
  if (exit_seen.seen == false) {
    text += " (by elimination: nobody saw it taken, but no other way out fits)";
  }
  return text;
}

Place PlaceOf(const Observation& exit) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  return {exit_seen.file.value_or(""), exit_seen.line.value_or(0)};
}

std::string DescribeTurn(const Observation& exit) {
  const auto exit_seen = As<seen::LoopExit>(exit);
  const auto turn = exit_seen.turn;
  const auto planned = exit_seen.planned;
  if (!turn) {
    return {};
  }
  const std::string role = exit_seen.role.value_or("");
  const std::string unit = role == "epochs" ? "epoch " : role == "steps" ? "step " : "turn ";
  return " in " + unit + HumanNumber(*turn, 9) + (planned ? " of " + HumanNumber(*planned, 9) : "");
}

std::vector<std::pair<std::string, double>> ExitValues(const Observation& exit) {
  std::vector<std::pair<std::string, double>> values;
  const std::string text = As<seen::LoopExit>(exit).values.value_or("");
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

#include "sign/program_language.h"

#include <algorithm>
#include <string>

#include "sign/exception_facts.h"

namespace whystop {
namespace {

bool IsPythons(std::string_view word) {
  word.remove_prefix(word.rfind('/') + 1);  // npos + 1 is 0.
  return word.starts_with("python") || word.starts_with("torchrun") || word.starts_with("accelerate") ||
         word.starts_with("jupyter") || word.ends_with(".py");
}

bool NamesPython(const CaseFile& run) {
  const auto& command = run.start->command;
  return std::any_of(command.begin(), command.end(), [](const std::string& word) { return IsPythons(word); }) ||
         std::any_of(run.process_ends.begin(), run.process_ends.end(), [](const ProcessEnd& ended) { return IsPythons(ended.name); }) ||
         std::any_of(run.readings.begin(), run.readings.end(), [](const ReadingHistory& history) { return IsPythons(history.subject.name); });
}

}  // namespace

bool IsNativeProgram(const CaseFile& run) {
  if (!run.watched || !run.start || run.start->command.empty() || run.probe_loaded || !run.exceptions.empty() || NamesPython(run)) {
    return false;
  }
  // It told its steps by the client library, or crashed with symbols of its own; else what was started is the program itself.
  return !run.steps.empty() || run.FindObservation("crash-place") != nullptr || !IsShell(run.start->command);
}

bool SpeaksPython(std::string_view advice) {
  constexpr std::string_view kWords[] = {"torch", "Torch", "ytho", "PYTHON", "pip ", "Keras", "keras", "numpy", "DataLoader",
                                         "DataFrame", "num_workers", "prefetch_factor", "Lightning", "Hugging", "Trainer", ".py",
                                         "model.", "optimizer.", "loss.", "scaler.", "nn.", "_()", "__", "=True", "=False", "tf."};
  return std::any_of(std::begin(kWords), std::end(kWords), [advice](std::string_view word) { return advice.find(word) != std::string_view::npos; });
}

}  // namespace whystop

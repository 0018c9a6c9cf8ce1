#include "report/verdict_words.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace whystop {

std::string LearningWords(const Verdict& verdict) {
  static constexpr std::pair<Learning, std::string_view> kWords[] = {
      {Learning::kImproving, "yes, still improving"},
      {Learning::kConverged, "yes, levelled off"},
      {Learning::kStalled, "stalled"},
      {Learning::kDiverged, "no, it diverged"},
      {Learning::kNeverLearned, "no, it never learned"},
      {Learning::kUnknown, "cannot say"}};
  for (const auto& [state, words] : kWords) {
    if (state == verdict.learning) {
      return fmt::format("{}{}{}", words, verdict.learning_text.empty() ? "" : ": ",
                         verdict.learning_text);
    }
  }
  return "";
}

}  // namespace whystop

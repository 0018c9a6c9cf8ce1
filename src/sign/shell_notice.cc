#include "sign/shell_notice.h"

#include <algorithm>
#include <string_view>

#include "base/parse.h"
#include "sign/account/account.h"
#include "sign/exception_facts.h"
#include "sign/signal_words.h"

namespace whystop {
namespace {

/// Takes digits from the front; nullopt: there are none.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  text = Trim(text);
  const std::size_t size = std::min(text.find_first_not_of("0123456789"), text.size());
  const auto number = ParseWhole<std::int64_t>(text.substr(0, size));
  text.remove_prefix(size);
  return number;
}

int SignalOf(std::string_view words, bool alone) {
  for (const SignalWord& word : kSignalWords) {
    const std::string_view rest = words.starts_with(word.text) ? Trim(words.substr(word.text.size())) : "-";
    if (alone ? rest.empty() || rest == "(core dumped)" : words.starts_with(word.text)) {
      return word.signal;
    }
  }
  return 0;
}

std::optional<ShellNotice> Read(std::string_view line) {
  constexpr std::string_view kLine = ": line ";
  const std::size_t at = line.find(kLine);
  if (at == std::string_view::npos) {
    const int signal = SignalOf(Trim(line), /*alone=*/true);
    return signal == 0 ? std::nullopt : std::optional(ShellNotice{0, signal});
  }
  std::string_view rest = line.substr(at + kLine.size());
  if (!TakeNumber(rest) || !rest.starts_with(':')) {
    return std::nullopt;
  }
  rest.remove_prefix(1);
  const auto pid = TakeNumber(rest);
  const int signal = SignalOf(Trim(rest), /*alone=*/false);
  return pid && signal != 0 ? std::optional(ShellNotice{*pid, signal}) : std::nullopt;
}

bool IsOfTheJob(const CaseFile& run, std::int64_t pid) {
  const auto trained = TrainingProcess(run);
  if (pid == 0) {  // What came to its own end is not meant.
    return run.start && IsShell(run.start->command) && trained && LastOfTraining(run, "process-exit") == nullptr;
  }
  return trained ? pid == *trained
                 : std::any_of(run.process_ends.begin(), run.process_ends.end(),
                               [pid](const ProcessEnd& ended) { return ended.pid == pid; });
}

}  // namespace

std::optional<ShellNotice> FindShellNotice(const CaseFile& run) {
  for (const LogFact& fact : run.log_facts) {
    const auto notice = run.watched && fact.metrics_after == 0 ? Read(fact.line) : std::nullopt;
    if (notice && IsOfTheJob(run, notice->pid)) {
      return notice;
    }
  }
  return std::nullopt;
}

}  // namespace whystop

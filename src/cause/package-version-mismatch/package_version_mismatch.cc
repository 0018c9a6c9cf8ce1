#include <fmt/format.h>

#include <string_view>

#include "cause/weighers.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

/// "numpy.core.multiarray.scalar" of "Unsupported global: GLOBAL numpy.core.multiarray.scalar was not an allowed ...".
std::string_view GlobalIn(std::string_view message) {
  constexpr std::string_view kBefore = "GLOBAL ";
  const std::size_t at = message.find(kBefore);
  return at == std::string_view::npos ? std::string_view()
                                      : message.substr(at + kBefore.size(), message.find(' ', at + kBefore.size()) - at - kBefore.size());
}

}  // namespace

/// Its lines are the evidence. Where torch.load refused a file, its message says what to do, and nothing else helps.
void WeighPackageVersionMismatch(const CaseFile& run, Hypothesis& out) {
  const ExceptionSeen* ending = FindEndingException(run);
  if (ending == nullptr || ending->message.find("Weights only load failed") == std::string::npos) {
    return;
  }
  out.Fix("If you trust the file: `torch.load(path, weights_only=False)`. It may run code that is stored in it.");
  if (const std::string_view global = GlobalIn(ending->message); !global.empty()) {
    const std::string_view name = global.substr(global.rfind('.') + 1);
    out.Fix(fmt::format("Or allow what it holds: `torch.serialization.add_safe_globals([{}])`, with `{}` imported, before the load.",
                        name, global));
  }
  out.Fix("Or save a plain `state_dict` from now on: that loads as it is.");
  out.NothingElseToDo();
}

}  // namespace whystop

#include "try/trouble.h"

#include <array>

namespace whystop {
namespace {

struct Trouble {
  std::string_view sign;  // In what the program raised.
  std::string_view words;
};

constexpr std::string_view kNeedsNetwork =
    "it needs the network, which a trial does not have; --network allows it";

constexpr std::array kTroubles = {
    Trouble{"EOFError",
            "it asks for input, and a trial has none; give it as an argument or a file: whystop "
            "try RUN -- COMMAND"},
    Trouble{"Temporary failure in name resolution", kNeedsNetwork},
    Trouble{"Name or service not known", kNeedsNetwork},
    Trouble{"Network is unreachable", kNeedsNetwork},
    Trouble{"Max retries exceeded", kNeedsNetwork},
    Trouble{"LocalEntryNotFoundError", kNeedsNetwork},
    Trouble{"OfflineModeIsEnabled", kNeedsNetwork},
    Trouble{"URLError", kNeedsNetwork},
    Trouble{"Address already in use",
            "the port that it needs is taken; trials with --network share the machine's ports"},
    Trouble{"No space left on device",
            "it writes more than its throw-away layer holds; on a copy of the project, --in-place "
            "lets it write"},
    Trouble{"Read-only file system",
            "it writes where no throw-away layer could be made; on a copy of the project, "
            "--in-place lets it write"},
};

}  // namespace

std::string WhyItDidNotBegin(const Trial& trial) {
  for (const Trouble& trouble : kTroubles) {
    if (trial.raised.find(trouble.sign) != std::string::npos) {
      return std::string(trouble.words) + " (" + trial.raised.substr(0, 200) + ")";
    }
  }
  if (!trial.raised.empty()) {
    return "it was ended by " + trial.raised + " before its first training step";
  }
  return trial.ended ? "it ended before its first training step"
                     : "it did not come to its first training step in time; --budget gives it more";
}

}  // namespace whystop

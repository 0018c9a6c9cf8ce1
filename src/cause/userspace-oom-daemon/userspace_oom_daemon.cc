#include <fmt/format.h>

#include <csignal>
#include <string_view>

#include "cause/evidence.h"
#include "cause/memory_facts.h"
#include "cause/weighers.h"

namespace whystop {

namespace {

constexpr std::string_view kDaemons[] = {"earlyoom", "systemd-oomd", "oomd", "nohang"};

}  // namespace

void WeighUserspaceOomDaemon(const CaseFile& run, Hypothesis& out) {
  for (const SignalSeen& seen : run.signals) {
    for (const std::string_view daemon : kDaemons) {
      if (seen.sender_name == daemon && (seen.signal == SIGTERM || seen.signal == SIGKILL)) {
        out.Add(Decisive("signal",
                         fmt::format("signal {} came from {}", seen.signal, DescribeSender(seen))));
      }
    }
  }
}

}  // namespace whystop

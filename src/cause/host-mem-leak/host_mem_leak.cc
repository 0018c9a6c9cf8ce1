#include <fmt/format.h>

#include "base/human.h"
#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighHostMemLeak(const CaseFile& run, Hypothesis& out) {
  const Finding* climb = run.FindFirst("memory/climbs");
  if (climb == nullptr) {
    return;
  }
  std::string text = "private memory of the job kept growing";
  if (const auto rate = climb->Number("bytes_per_hour")) {
    text += fmt::format(" by {} an hour", HumanBytes(*rate));
  }
  if (const auto left = climb->Number("hours_to_limit")) {
    text += fmt::format("; at that rate the limit is reached in {:.1f} h", *left);
  }
  out.Add(Decisive("sample", text, climb->facts));
}

}  // namespace whystop

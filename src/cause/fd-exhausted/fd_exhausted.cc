#include <fmt/format.h>

#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighFdExhausted(const CaseFile& run, Hypothesis& out) {
  const ReadingHistory* fds = run.Find(Subject::Kind::kTree, Quantity::kTreeFdsMax);
  if (fds == nullptr || !run.start || run.start->limits.count("nofile") == 0) {
    return;
  }
  const std::int64_t limit = run.start->limits.at("nofile");
  // Sampled once a second, so the last few descriptors before the limit may go unseen.
  if (static_cast<double>(fds->max) > 0.95 * static_cast<double>(limit) &&
      run.ExitCode().value_or(0) != 0) {
    out.Add(Supports("sample",
                     fmt::format("one process had {} descriptors open; the limit is {} (ulimit -n)",
                                 fds->max, limit)));
    out.Fix(fmt::format("raise the limit before the run: ulimit -n {}", limit * 16));
  }
}

}  // namespace whystop

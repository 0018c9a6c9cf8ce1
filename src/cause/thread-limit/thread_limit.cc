#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "cause/evidence.h"
#include "cause/weighers.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

// What programs say when the kernel gives them no further thread or process (EAGAIN).
constexpr std::string_view kRefused[] = {"can't start new thread", "Thread creation failed",
                                         "pthread_create failed", "Resource temporarily unavailable",
                                         "unable to create new thread", "Cannot fork", "can't fork"};

/// The user's limit on processes, which counts the threads of all his programs.
void WeighRefusals(const CaseFile& run, Hypothesis& out) {
  for (const ExceptionSeen& exception : run.exceptions) {
    const bool refused = std::any_of(std::begin(kRefused), std::end(kRefused), [&](std::string_view word) {
      return exception.message.find(word) != std::string::npos ||
             exception.first_message.find(word) != std::string::npos;
    });
    if (!refused || exception.metrics_after > 0 || run.ExitCode() == 0) {
      continue;
    }
    Evidence evidence = Decisive("exception", PointOf(exception));
    evidence.place = exception.place;
    out.Add(std::move(evidence));
    if (run.start && run.start->limits.count("nproc") != 0) {
      const auto* threads = run.Find(Subject::Kind::kTree, Quantity::kTreeThreads);
      out.Add(Supports("environment",
                       fmt::format("the limit in force was {} processes and threads (ulimit -u){}",
                                   run.start->limits.at("nproc"),
                                   threads == nullptr ? "" : fmt::format(", and the job had up to {}", threads->max))));
    }
    return;
  }
}

}  // namespace

void WeighThreadLimit(const CaseFile& run, Hypothesis& out) {
  for (const ReadingHistory* refused : run.FindAll(Quantity::kCgroupPidsRefused)) {
    if (refused->Rise() > 0) {
      out.Add(Decisive("cgroup-counter",
                       fmt::format("control group {} refused {} new processes or threads",
                                   refused->subject.name, refused->Rise())));
      return;
    }
  }
  WeighRefusals(run, out);
}

}  // namespace whystop

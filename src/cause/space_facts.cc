#include "cause/space_facts.h"

#include <fmt/format.h>

#include "base/human.h"

namespace whystop {
namespace {

constexpr std::string_view kSharedMemory = "/dev/shm";

/// Less than this is full for anything that writes checkpoints or batches: a page cache flush may
/// free a little in between two samples.
constexpr std::int64_t kFullBytes = 1 << 20;

const ReadingHistory* TotalOf(const CaseFile& run, const Subject& subject, Quantity quantity) {
  for (const ReadingHistory* history : run.FindAll(quantity)) {
    if (history->subject == subject) {
      return history;
    }
  }
  return nullptr;
}

}  // namespace

FullMount FindFullMount(const CaseFile& run, bool shared_memory) {
  for (const ReadingHistory* free : run.FindAll(Quantity::kDiskFreeBytes)) {
    if ((free->subject.name == kSharedMemory) != shared_memory) {
      continue;
    }
    const ReadingHistory* total = TotalOf(run, free->subject, Quantity::kDiskTotalBytes);
    if (total == nullptr || total->last == 0 || free->min >= kFullBytes) {
      continue;
    }
    return {true, free->subject.name,
            fmt::format("{} had {} of {} free", free->subject.name,
                        HumanBytes(static_cast<double>(free->min)),
                        HumanBytes(static_cast<double>(total->last)))};
  }
  for (const ReadingHistory* free : run.FindAll(Quantity::kDiskFreeInodes)) {
    const ReadingHistory* total = TotalOf(run, free->subject, Quantity::kDiskTotalInodes);
    if ((free->subject.name == kSharedMemory) == shared_memory && total != nullptr &&
        total->last > 0 && free->min == 0) {
      return {
          true, free->subject.name,
          fmt::format("{} had no inode left of {}", free->subject.name, HumanCount(total->last))};
    }
  }
  return {};
}

const ExceptionSeen* FindNoSpaceError(const CaseFile& run) {
  for (const ExceptionSeen& exception : run.exceptions) {
    const bool no_space =
        exception.message.find("No space left on device") != std::string::npos ||
        exception.first_message.find("No space left on device") != std::string::npos;
    if (no_space && exception.metrics_after == 0 && run.ExitCode() != 0) {
      return &exception;
    }
  }
  return nullptr;
}

}  // namespace whystop

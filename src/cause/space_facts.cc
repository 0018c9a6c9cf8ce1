#include "cause/space_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "base/human.h"
#include "sign/exception_facts.h"

namespace whystop {
namespace {

constexpr std::string_view kSharedMemory = "/dev/shm";

/// Less than this is full for anything that writes checkpoints or batches: a page cache flush may
/// free a little in between two samples.
constexpr std::int64_t kFullBytes = 1 << 20;

/// Of /dev/shm. A batch or two are written between two samples.
constexpr double kTightShare = 0.25;

const ReadingHistory* TotalOf(const CaseFile& run, const Subject& subject, Quantity quantity) {
  for (const ReadingHistory* history : run.FindAll(quantity)) {
    if (history->subject == subject) {
      return history;
    }
  }
  return nullptr;
}

std::string DescribeFree(const ReadingHistory& free, const ReadingHistory& total) {
  return fmt::format("{} had {} of {} free", free.subject.name, HumanBytes(static_cast<double>(free.min)),
                     HumanBytes(static_cast<double>(total.last)));
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
    return {true, free->subject.name, DescribeFree(*free, *total)};
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

FullMount FindTightSharedMemory(const CaseFile& run) {
  for (const ReadingHistory* free : run.FindAll(Quantity::kDiskFreeBytes)) {
    const ReadingHistory* total = TotalOf(run, free->subject, Quantity::kDiskTotalBytes);
    if (free->subject.name == kSharedMemory && total != nullptr && total->last > 0 &&
        static_cast<double>(free->min) < kTightShare * static_cast<double>(total->last)) {
      return {true, free->subject.name, DescribeFree(*free, *total)};
    }
  }
  return {};
}

namespace {

// errno 28 in the words of those who pass it on.
constexpr std::string_view kNoSpace[] = {"No space left on device", "errno = 28", "Errno 28",
                                         "os error 28",             "code: 28",   "ENOSPC"};
// A write that failed, without a reason: torch.save's, zipfile's, HDF5's.
constexpr std::string_view kWriteFailed[] = {"file write failed", "unexpected pos ",
                                             "PytorchStreamWriter failed", "Unable to synchronously write",
                                             "Can't write data", "write failed", "short write"};

bool Says(const ExceptionSeen& exception, std::span<const std::string_view> words) {
  return std::any_of(words.begin(), words.end(), [&exception](std::string_view word) {
    return exception.message.find(word) != std::string::npos ||
           exception.first_message.find(word) != std::string::npos;
  });
}

bool WasNotSurvived(const CaseFile& run, const ExceptionSeen& exception) {
  return &exception == FindEndingException(run) || (exception.metrics_after == 0 && run.ExitCode() != 0);
}

}  // namespace

const ExceptionSeen* FindNoSpaceError(const CaseFile& run) {
  for (const ExceptionSeen& exception : run.exceptions) {
    if (Says(exception, kNoSpace) && WasNotSurvived(run, exception)) {
      return &exception;
    }
  }
  const bool full = FindFullMount(run, false).found || FindFullMount(run, true).found;
  for (const ExceptionSeen& exception : run.exceptions) {
    if (full && Says(exception, kWriteFailed) && WasNotSurvived(run, exception)) {
      return &exception;
    }
  }
  return nullptr;
}

bool NamesSharedMemory(const ExceptionSeen& exception) {
  constexpr std::string_view kWords[] = {"/dev/shm", "shared memory", "shm_open"};
  return Says(exception, kWords) ||
         exception.message.find("unable to write to file </torch_") != std::string::npos;
}

}  // namespace whystop

#include "sense/kernel_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "sense/proc_text.h"

namespace whystop {
namespace {

constexpr std::size_t kLineLengthMax = 1024;
constexpr int kRecordsPerSweepMax = 512;
constexpr int kRecordsInBufferMax = 1 << 17;

// Parts of the kernel's own messages, lower case, each long or odd enough not to occur in chatter.
constexpr std::string_view kMatters[] = {
    "oom-kill",
    "oom_kill",
    "out of memory",
    "killed process",
    "oom_reaper",
    "invoked oom-killer",

    "page allocation failure",
    "segfault at",
    "general protection",
    "trap ",
    "traps:",
    "bad page",
    "bug:",
    "kernel panic",
    "watchdog:",
    "soft lockup",
    "hard lockup",
    "rcu_sched self-detected",
    "hung_task",
    "blocked for more than",
    "nvrm:",
    "xid ",
    "nvlink",
    "amdgpu",
    "gpu reset",
    "fallen off the bus",
    "i/o error",
    "medium error",
    "ext4-fs",
    "xfs (",
    "btrfs",
    "nfs:",
    "lustre",
    "remounting filesystem read-only",
    "not responding",
    "machine check",
    "mce:",
    "edac ",
    "hardware error",
    "fork rejected by pids",
    "sigkill",
    "potentially unexpected",
    "thermal",
    "temperature above threshold",
    "aer:",
    "pcie bus error",
};
// Said when a file system is mounted or a driver loads, or the frames and table heads ("+0x8/0x8a")
// that follow a report: nothing of their own to say.
constexpr std::string_view kHarmless[] = {
    "+0x",          "[  pid  ]",          "mounted filesystem", "unmounting filesystem",
    "mounting v",   "ending clean mount", "re-mounted",         "deprecated",
    "edac mc: ver", "mce: cpu supports",  "initialized",
};

template <std::size_t N>
bool HoldsAny(std::string_view text, const std::string_view (&parts)[N]) {
  return std::any_of(std::begin(parts), std::end(parts), [text](std::string_view part) {
    return text.find(part) != std::string_view::npos;
  });
}

bool IsDigit(char letter) { return letter >= '0' && letter <= '9'; }

}  // namespace

std::optional<KernelRecord> ParseKernelRecord(std::string_view record) {
  const auto semicolon = record.find(';');
  if (semicolon == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view head = record.substr(0, semicolon);
  std::int64_t fields[3] = {};
  for (std::int64_t& field : fields) {
    const auto comma = head.find(',');
    const auto number = ParseWhole<std::int64_t>(head.substr(0, comma));
    if (!number || *number < 0) {
      return std::nullopt;
    }
    field = *number;
    head.remove_prefix(comma == std::string_view::npos ? head.size() : comma + 1);
  }
  std::string_view body = record.substr(semicolon + 1);
  const std::string_view text = TakeLine(body);
  return KernelRecord{.level = static_cast<int>(fields[0] & 7),
                      .number = fields[1],
                      .at = std::chrono::microseconds(fields[2]),
                      .text = std::string(text.substr(0, kLineLengthMax))};
}

bool KernelLineMatters(std::string_view text) {
  std::string lower(text.substr(0, kLineLengthMax));
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return HoldsAny(lower, kMatters) && !HoldsAny(lower, kHarmless);
}

bool MentionsPid(std::string_view text, std::int64_t pid) {
  const std::string wanted = std::to_string(pid);
  for (auto at = text.find(wanted); at != std::string_view::npos; at = text.find(wanted, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const auto end = at + wanted.size();
    const bool whole = end == text.size() || !IsDigit(text[end]);
    // Only where the kernel writes pids, so that a size or an address is not taken for one.
    if (whole &&
        (before.ends_with("pid=") || before.ends_with("rocess ") || before.ends_with("task ") ||
         before.ends_with("PID: ") || before.ends_with("pid ") || before.ends_with("pid:") ||
         (before.ends_with("[") && text.substr(end, 1) == "]") ||
         (before.ends_with(":") && text.substr(end, 1) == " "))) {
      return true;
    }
  }
  return false;
}

Result<KernelLog> KernelLog::Open(const std::string& path) {
  auto fd = OpenFd(path, O_RDONLY | O_NONBLOCK);
  if (!fd) {
    return fd.error();
  }
  std::array<char, 8192> probe{};
  // Opening may be allowed where reading is not; a read from the end says so and takes nothing.
  ::lseek(fd->get(), 0, SEEK_END);
  if (ReadSome(fd->get(), probe) < 0 && errno != EAGAIN && errno != EPIPE) {
    return SystemError("cannot read '" + path + "'", errno);
  }
  ::lseek(fd->get(), 0, SEEK_END);
  return KernelLog(std::move(*fd));
}

void KernelLog::Sample(Sweep& sweep) {
  std::array<char, 8192> buffer{};
  for (int count = 0; count < kRecordsPerSweepMax; ++count) {
    const ssize_t size = ReadSome(fd_.get(), buffer);
    if (size < 0 && errno == EPIPE) {
      sweep.Announce(Drop{"sense.kernel_log_overrun", 1});
      continue;  // The next read goes on at the oldest record left.
    }
    if (size <= 0) {
      return;
    }
    const auto record = ParseKernelRecord({buffer.data(), static_cast<std::size_t>(size)});
    if (record && KernelLineMatters(record->text)) {
      sweep.Announce(KernelLine{record->text});
    }
  }
}

Result<std::vector<KernelRecord>> RecentKernelLines(const std::string& path,
                                                    std::chrono::microseconds now,
                                                    std::chrono::microseconds window,
                                                    const std::vector<std::int64_t>& pids) {
  auto fd = OpenFd(path, O_RDONLY | O_NONBLOCK);
  if (!fd) {
    return fd.error();
  }
  std::vector<KernelRecord> found;
  std::array<char, 8192> buffer{};
  for (int count = 0; count < kRecordsInBufferMax; ++count) {
    const ssize_t size = ReadSome(fd->get(), buffer);
    if (size < 0 && errno == EPIPE) {
      continue;
    }
    if (size < 0 && errno != EAGAIN) {
      return SystemError("cannot read '" + path + "'", errno);
    }
    if (size <= 0) {
      break;
    }
    auto record = ParseKernelRecord({buffer.data(), static_cast<std::size_t>(size)});
    const bool ours =
        record && (pids.empty() || std::any_of(pids.begin(), pids.end(), [&](std::int64_t pid) {
                     return MentionsPid(record->text, pid);
                   }));
    if (ours && record->at + window >= now && KernelLineMatters(record->text)) {
      found.push_back(std::move(*record));
    }
  }
  return found;
}

}  // namespace whystop

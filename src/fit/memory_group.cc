#include "fit/memory_group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>

#include "base/parse.h"
#include "sense/cgroup_group.h"
#include "sense/cgroup_locate.h"
#include "sense/mount_info.h"

namespace whystop {
namespace {

constexpr int kRemoveTries = 100;
constexpr int kRemovePauseMs = 100;

bool IsFolder(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

/// Where groups of memory can be made: below our own, or where that is not allowed beside it.
std::vector<CgroupFolder> Parents() {
  const auto memberships = ReadFile("/proc/self/cgroup");
  const auto mounts = ReadFile("/proc/self/mountinfo", 4 << 20);
  if (!memberships || !mounts) {
    return {};
  }
  auto found = LocateCgroups(ParseProcCgroup(*memberships), ParseMountInfo(*mounts), &IsFolder);
  std::erase_if(found, [](const CgroupFolder& group) {
    if (!group.controllers.empty()) {
      return !ListHas(group.controllers, "memory");
    }
    const auto shared = ReadFile(group.folder + "/cgroup.subtree_control");
    return !shared || shared->find("memory") == std::string::npos;
  });
  return found;
}

Status WriteTo(const std::string& path, const std::string& text) {
  auto file = OpenFd(path, O_WRONLY);
  if (!file) {
    return file.error();
  }
  const int fault = WriteAll(file->get(), text);
  return fault == 0 ? Status(Ok{}) : Status(SystemError("write " + path, fault));
}

std::optional<std::int64_t> NumberIn(const std::string& path) {
  const auto text = ReadFile(path);
  return text ? ParseWhole<std::int64_t>(Trim(*text)) : std::nullopt;
}

/// A group can be removed once its last process is gone.
void Remove(const std::string& folder) {
  for (int i = 0; i < kRemoveTries && ::rmdir(folder.c_str()) != 0 && errno == EBUSY; ++i) {
    ::poll(nullptr, 0, kRemovePauseMs);
  }
}

}  // namespace

Result<MemoryGroup> MemoryGroup::Make(std::int64_t limit_bytes) {
  static std::atomic<int> made = 0;
  Error fault{Error::Code::kNoPermission, "no memory control group can be made here", ""};
  for (const CgroupFolder& parent : Parents()) {
    const std::string folder =
        fmt::format("{}/whystop-fit-{}-{}", parent.folder, ::getpid(), ++made);
    if (::mkdir(folder.c_str(), 0755) != 0) {
      fault = SystemError("make " + folder, errno);
      continue;
    }
    MemoryGroup group(folder, !parent.controllers.empty());
    group.RemoveWhenThisProcessDies();
    if (const Status limited = group.Limit(limit_bytes); !limited) {
      fault = limited.error();
      continue;
    }
    auto door = OpenFd(folder + "/cgroup.procs", O_WRONLY);
    if (!door) {
      fault = door.error();
      continue;
    }
    group.door_ = std::move(*door);
    return group;
  }
  return fault;
}

MemoryGroup::~MemoryGroup() {
  if (!folder_.empty()) {
    Remove(folder_);
  }
}

Status MemoryGroup::Limit(std::int64_t bytes) const {
  if (first_version_) {
    WS_RETURN_IF_ERROR(WriteTo(folder_ + "/memory.limit_in_bytes", std::to_string(bytes)));
    (void)WriteTo(folder_ + "/memory.memsw.limit_in_bytes",
                  std::to_string(bytes));  // Not on every kernel.
    (void)WriteTo(folder_ + "/memory.swappiness", "0");
    return Ok{};
  }
  WS_RETURN_IF_ERROR(WriteTo(folder_ + "/memory.max", std::to_string(bytes)));
  (void)WriteTo(folder_ + "/memory.swap.max", "0");
  return Ok{};
}

void MemoryGroup::RemoveWhenThisProcessDies() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return;
  }
  Fd read_end(ends[0]);
  alive_ = Fd(ends[1]);
  const pid_t middle = ::fork();  // Twice: nobody has to wait for the one that stays.
  if (middle == 0) {
    if (::fork() != 0) {
      ::_exit(0);
    }
    ::setsid();
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
      ::signal(signal, SIG_IGN);
    }
    for (int fd = 0; fd < 1024; ++fd) {
      if (fd != read_end.get()) {
        ::close(fd);
      }
    }
    char nothing[1];
    while (::read(read_end.get(), nothing, 1) < 0 && errno == EINTR) {
    }
    Remove(folder_);
    ::_exit(0);
  }
  ::waitpid(middle, nullptr, 0);
}

std::optional<std::int64_t> MemoryGroup::PeakBytes() const {
  const auto peak =
      NumberIn(folder_ + (first_version_ ? "/memory.max_usage_in_bytes" : "/memory.peak"));
  const auto text = ReadFile(folder_ + "/memory.stat");
  if (!peak || !text) {
    return std::nullopt;
  }
  CgroupFacts facts;
  first_version_ ? ParseMemoryStatV1(*text, facts) : ParseMemoryStatV2(*text, facts);
  return std::max<std::int64_t>(0, *peak - facts.file_bytes.value_or(0));
}

std::int64_t MemoryGroup::Kills() const {
  const auto text = ReadFile(folder_ + (first_version_ ? "/memory.oom_control" : "/memory.events"));
  return text ? ParseFlatKeyed(*text, "oom_kill").value_or(0) : 0;
}

}  // namespace whystop

#include "sense/process_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "sense/proc_text.h"

namespace whystop {
namespace {

constexpr std::size_t kCommandLengthMax = 512;
constexpr int kThreadsMax = 4096;
constexpr std::int64_t kFdsCountedMax = 1 << 20;

std::int64_t TicksToMs(std::int64_t ticks) {
  static const std::int64_t kTickMs = 1000 / ::sysconf(_SC_CLK_TCK);
  return Scaled(ticks, kTickMs).value_or(0);
}

std::int64_t PagesToBytes(std::int64_t pages) {
  static const std::int64_t kPageBytes = ::sysconf(_SC_PAGESIZE);
  return Scaled(pages, kPageBytes).value_or(0);
}

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

std::optional<std::int64_t> CountFds(const KeptFolder& fds) {
  const auto size = fds.SizeOfEntry();
  if (!size || *size > 0) {
    return size;  // Linux 6.2 and newer tell the count here, at a tenth of the price.
  }
  const Folder folder(::opendir(fds.path().c_str()));
  if (folder == nullptr) {
    return std::nullopt;
  }
  std::int64_t count = 0;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this DIR belongs to this call alone
  while (const dirent* entry = ::readdir(folder.get())) {
    count += entry->d_name[0] != '.' ? 1 : 0;
    if (count >= kFdsCountedMax) {
      break;
    }
  }
  return count;
}

}  // namespace

ProcessWatch::ProcessWatch(const std::string& proc_root, pid_t pid, DescriptorBudget& budget)
    : folder_(proc_root + "/" + std::to_string(pid)),
      pid_(pid),
      stat_(folder_ + "/stat", budget),
      status_(folder_ + "/status", budget),
      io_(folder_ + "/io", budget),
      children_(folder_ + "/task/" + std::to_string(pid) + "/children", budget),
      fds_(folder_ + "/fd", budget) {}

bool ProcessWatch::ReadQuick(std::span<char> buffer) {
  const auto text = stat_.Read(buffer);
  const auto stat = text ? ParseProcessStat(*text) : std::nullopt;
  if (!stat || (facts_.start_ticks != 0 && facts_.start_ticks != stat->start_ticks)) {
    return false;
  }
  ++sweeps_;
  if (stat->name != name_) {
    name_ = stat->name;
  }
  facts_.parent_pid = stat->parent_pid;
  facts_.start_ticks = stat->start_ticks;
  facts_.threads = stat->threads;
  facts_.major_faults = stat->major_faults;
  facts_.rss_bytes = PagesToBytes(stat->rss_pages);
  facts_.cpu_user_ms = TicksToMs(stat->user_ticks);
  facts_.cpu_system_ms = TicksToMs(stat->system_ticks);
  facts_.cpu_reaped_ms = TicksToMs(stat->reaped_ticks);
  return true;
}

void ProcessWatch::ReadSlow(std::span<char> buffer) {
  if (const auto text = status_.Read(buffer)) {
    facts_.status = ParseProcessStatus(*text);
  }
  if (const auto text = io_.Read(buffer)) {
    facts_.io = ParseProcessIo(*text);
  }
  facts_.fds = CountFds(fds_);
  if (!facts_.fds_max) {
    if (const auto text = ReadFile(folder_ + "/limits", 4096)) {
      facts_.fds_max = ParseOpenFilesLimit(*text);
    }
  }
}

void ProcessWatch::AppendChildren(bool every_thread, std::span<char> buffer,
                                  std::vector<pid_t>& children) {
  if (const auto text = children_.Read(buffer)) {
    ParseChildren(*text, children);
  } else if (errno == ENOENT) {
    // The file is missing, not the process: this kernel has none.
    children_missing_ = ::access((folder_ + "/stat").c_str(), F_OK) == 0;
  }
  if (!every_thread || facts_.threads <= 1) {
    return;
  }
  const Folder folder(::opendir((folder_ + "/task").c_str()));
  if (folder == nullptr) {
    return;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this DIR belongs to this call alone
  for (int count = 0; const dirent* entry = ::readdir(folder.get()); ++count) {
    const auto thread = ParseWhole<pid_t>(entry->d_name);
    if (count > kThreadsMax || !thread || *thread == pid_) {
      continue;
    }
    if (const auto text = ReadFile(folder_ + "/task/" + entry->d_name + "/children", 65536)) {
      ParseChildren(*text, children);
    }
  }
}

std::string ProcessWatch::ReadCommandLine(std::span<char> buffer) const {
  const auto fd = OpenFd(folder_ + "/cmdline", O_RDONLY);
  const ssize_t size = fd ? ReadSome(fd->get(), buffer) : -1;
  return size < 0
             ? std::string()
             : ParseCommandLine({buffer.data(), static_cast<std::size_t>(size)}, kCommandLengthMax);
}

bool ProcessWatch::HasLostPythonPath(const std::string& folder) const {
  constexpr std::size_t kEnvironmentMax = 1 << 20;
  if (folder.empty() || !name_.starts_with("python")) {
    return false;
  }
  const auto environment = ReadFile(folder_ + "/environ", kEnvironmentMax);
  return environment && !environment->empty() && !PythonPathHolds(*environment, folder);
}

std::optional<std::int64_t> ProcessWatch::ReadPssBytes(std::span<char> buffer) const {
  const auto fd = OpenFd(folder_ + "/smaps_rollup", O_RDONLY);
  const ssize_t size = fd ? ReadSome(fd->get(), buffer) : -1;
  return size < 0 ? std::nullopt : ParsePssBytes({buffer.data(), static_cast<std::size_t>(size)});
}

}  // namespace whystop

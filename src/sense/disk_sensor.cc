#include "sense/disk_sensor.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/fd.h"
#include "sense/proc_text.h"

namespace whystop {
namespace {

constexpr std::size_t kMountsMax = 16;
constexpr std::size_t kProcessesMax = 64;  // Looked at for open files.
constexpr int kDescriptorsMax = 512;       // Of one process.
constexpr std::string_view kNetworkTypes[] = {"nfs",  "cifs",   "smb",  "lustre", "gpfs",
                                              "ceph", "beegfs", "fuse", "9p",     "afs"};
constexpr std::string_view kNoStorage[] = {"proc",   "sysfs",   "cgroup",  "devpts", "devtmpfs",
                                           "mqueue", "debugfs", "tracefs", "bpf",    "securityfs"};

template <std::size_t N>
bool StartsWithAny(std::string_view text, const std::string_view (&starts)[N]) {
  return std::any_of(std::begin(starts), std::end(starts),
                     [text](std::string_view start) { return text.starts_with(start); });
}

std::optional<std::string> ReadLink(const std::string& path) {
  std::array<char, 4096> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return size <= 0 ? std::nullopt
                   : std::optional(std::string(target.data(), static_cast<std::size_t>(size)));
}

std::optional<std::int64_t> Blocks(std::uint64_t count, std::uint64_t size) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (size == 0 || count > kMost / size) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(count * size);
}

}  // namespace

std::optional<DiskSpace> ReadDiskSpace(const std::string& path) {
  struct statvfs info {};
  if (::statvfs(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  const auto free_bytes = Blocks(info.f_bavail, info.f_frsize);
  const auto total_bytes = Blocks(info.f_blocks, info.f_frsize);
  if (!free_bytes || !total_bytes || *total_bytes == 0) {
    return std::nullopt;
  }
  DiskSpace space{*free_bytes, *total_bytes, {}, {}};
  if (info.f_files > 0) {
    space.free_inodes = Blocks(info.f_favail, 1);
    space.total_inodes = Blocks(info.f_files, 1);
  }
  return space;
}

std::vector<std::string> FilesOpenForWriting(const std::string& proc_root, pid_t pid) {
  const std::string folder = proc_root + "/" + std::to_string(pid) + "/fd";
  std::vector<std::string> files;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(folder.c_str()), &::closedir);
  if (listing == nullptr) {
    return files;
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this DIR belongs to this call alone
  for (int count = 0; const dirent* entry = ::readdir(listing.get()); ++count) {
    const std::string link = folder + "/" + entry->d_name;
    struct stat info {};
    // The link's own mode says how the descriptor was opened.
    if (count > kDescriptorsMax || ::lstat(link.c_str(), &info) != 0 || !S_ISLNK(info.st_mode) ||
        (info.st_mode & S_IWUSR) == 0) {
      continue;
    }
    auto target = ReadLink(link);
    if (target && target->starts_with('/')) {  // Not "pipe:[123]", "socket:[5]".
      files.push_back(std::move(*target));
    }
  }
  return files;
}

void DiskSensor::Watch(const std::vector<Mount>& mounts, const std::string& path) {
  const Mount* mount = FindMount(mounts, path);
  if (mount == nullptr || StartsWithAny(mount->type, kNoStorage) || watched_.size() >= kMountsMax) {
    return;
  }
  for (const Watched& watched : watched_) {
    if (watched.mount.device == mount->device) {
      return;
    }
  }
  if (mount->type == "tmpfs") {  // Answers from memory: no thread, and never older than the sample.
    watched_.push_back({*mount, nullptr, std::nullopt, false});
    return;
  }
  // A server that thousands of jobs share is asked less often.
  const bool remote = StartsWithAny(mount->type, kNetworkTypes);
  const auto interval = remote ? options_.interval_rare : options_.interval;
  using Poller = SlowPoller<std::string, DiskSpace>;
  watched_.push_back(
      {*mount,
       std::make_unique<Poller>(&ReadDiskSpace, options_.roots.mounts + mount->mount_point,
                                Poller::Pace{interval, options_.poll_timeout}),
       std::nullopt, false});
}

void DiskSensor::FindMounts(std::span<const pid_t> pids) {
  const auto mountinfo = ReadFile(options_.roots.proc + "/self/mountinfo");
  if (!mountinfo) {
    return;
  }
  const std::vector<Mount> mounts = ParseMountInfo(*mountinfo);
  for (const std::string& path : options_.watched_paths) {
    Watch(mounts, path);
  }
  for (const pid_t pid : pids.first(std::min(pids.size(), kProcessesMax))) {
    if (const auto folder = ReadLink(options_.roots.proc + "/" + std::to_string(pid) + "/cwd")) {
      Watch(mounts, *folder);
    }
    for (const std::string& file : FilesOpenForWriting(options_.roots.proc, pid)) {
      Watch(mounts, file);
    }
  }
}

void DiskSensor::Sample(std::span<const pid_t> pids, Sweep& sweep) {
  if (!last_look_ || sweep.now() - *last_look_ >= options_.interval_rare) {
    last_look_ = sweep.now();
    FindMounts(pids);
  }
  for (Watched& watched : watched_) {
    watched.space = watched.poller == nullptr
                        ? ReadDiskSpace(options_.roots.mounts + watched.mount.mount_point)
                        : watched.poller->Latest(sweep.now());
    if (watched.poller != nullptr && watched.poller->stuck() && !watched.stuck_announced) {
      watched.stuck_announced = true;
      sweep.Announce(
          Observation{.kind = "sensor-unavailable",
                      .step = {},
                      .rank = {},
                      .attributes = {{"sensor", "file system " + watched.mount.mount_point},
                                     {"reason", "it does not answer"}}});
    }
    if (!watched.space) {
      continue;
    }
    const SubjectId mount = sweep.Find({Subject::Kind::kMount, watched.mount.mount_point, 0});
    sweep.Add(mount, Quantity::kDiskFreeBytes, watched.space->free_bytes);
    sweep.Add(mount, Quantity::kDiskTotalBytes, watched.space->total_bytes);
    sweep.Add(mount, Quantity::kDiskFreeInodes, watched.space->free_inodes);
    sweep.Add(mount, Quantity::kDiskTotalInodes, watched.space->total_inodes);
  }
}

}  // namespace whystop

#include "record/recording_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>

#include "base/parse.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

std::string PathOf(const std::string& directory, std::string_view file) {
  return directory + "/" + std::string(file);
}

/// Makes the folder and opens it. Refuses one where somebody else could read, replace or redirect
/// what we write: a symbolic link, another owner, a folder that others may write into.
Result<Fd> MakeFolder(const std::string& directory) {
  constexpr std::string_view kElsewhere = "choose another place with --dir";
  std::error_code fault;
  const fs::path parent = fs::path(directory).parent_path();
  if (!parent.empty()) {
    fs::create_directories(parent, fault);
  }
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("cannot make the recording folder '" + directory + "'", errno);
  }
  const auto refused = [&](const std::string& why) {
    return Error{Error::Code::kUsage, "'" + directory + "' " + why, std::string(kElsewhere)};
  };
  auto folder = OpenFd(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!folder) {
    if (fs::is_symlink(fs::symlink_status(directory, fault))) {
      return refused("is a symbolic link");
    }
    return fs::is_directory(directory, fault) ? folder.error() : refused("is not a folder");
  }
  struct stat facts {};
  if (::fstat(folder->get(), &facts) != 0) {
    return SystemError("cannot look at '" + directory + "'", errno);
  }
  if (facts.st_uid != ::geteuid()) {
    return refused("belongs to another user");
  }
  // A group of one's own is usual (umask 002); any other group is others.
  const bool group_may_write = (facts.st_mode & S_IWGRP) != 0 && facts.st_gid != ::getegid();
  if ((facts.st_mode & S_IWOTH) != 0 || group_may_write) {
    return refused("may be written by others");
  }
  return folder;
}

/// A regular file of the folder, made where it is not there; never through a link.
Result<Fd> OpenIn(const Fd& folder, const std::string& directory, std::string_view name, int flags) {
  int fd = -1;
  do {
    fd = ::openat(folder.get(), std::string(name).c_str(),
                  flags | O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return SystemError("cannot open '" + PathOf(directory, name) + "'", errno);
  }
  Fd opened(fd);
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return Error{Error::Code::kUsage, "'" + PathOf(directory, name) + "' is not a file", ""};
  }
  return opened;
}

/// flock belongs to the open file, so it lives on in every process that inherited it.
Result<Fd> Lock(const Fd& folder, const std::string& directory) {
  auto lock = OpenIn(folder, directory, kLockFile, 0);
  if (!lock) {
    return lock.error();
  }
  if (::flock(lock->get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    const std::int64_t holder = LockHolder(directory);
    return Error{
        Error::Code::kBusy,
        "recording '" + directory + "' is being written by process " + std::to_string(holder),
        "choose another place with --dir, or see how that run does with 'whystop why " + directory +
            "'"};
  }
  // File systems without locks (some NFS) answer otherwise: then we go on unlocked rather than not
  // at all.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(lock->get(), 0) != 0 || WriteAll(lock->get(), pid) != 0) {
    return SystemError("cannot write '" + PathOf(directory, kLockFile) + "'", errno);
  }
  return lock;
}

void MoveEarlierRecording(const std::string& directory) {
  std::error_code fault;
  if (!fs::exists(PathOf(directory, kEventsFile), fault)) {
    return;
  }
  int number = 1;
  while (fs::exists(directory + "/earlier-" + std::to_string(number), fault)) {
    ++number;
  }
  const std::string earlier = directory + "/earlier-" + std::to_string(number);
  if (::mkdir(earlier.c_str(), 0700) != 0) {
    return;
  }
  for (const std::string_view file :
       {kEventsFile, kReserveFile, kTailFiles[0], kTailFiles[1], kLateFiles[0], kLateFiles[1],
        kWatchFile, kMiddleFile, kRingFolder}) {
    fs::rename(PathOf(directory, file), PathOf(earlier, file),
               fault);  // Absent ones are no matter.
  }
}

Result<FrameFile> OpenFrames(const Fd& folder, const std::string& directory,
                             std::string_view name) {
  auto fd = OpenIn(folder, directory, name, O_TRUNC);
  if (!fd) {
    return fd.error();
  }
  return FrameFile(std::move(*fd));
}

}  // namespace

std::int64_t LockHolder(const std::string& directory) {
  const std::string path = PathOf(directory, kLockFile);
  auto lock = OpenFd(path, O_RDONLY);
  if (!lock) {
    return 0;
  }
  if (::flock(lock->get(), LOCK_SH | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
    return 0;
  }
  const auto text = ReadFile(path, 64);
  return text ? ParseWhole<std::int64_t>(Trim(*text)).value_or(0) : 0;
}

Result<RecordingFolder> OpenRecordingFolder(const std::string& directory) {
  const auto opened = MakeFolder(directory);
  if (!opened) {
    return opened.error();
  }
  auto lock = Lock(*opened, directory);
  if (!lock) {
    return lock.error();
  }
  MoveEarlierRecording(directory);
  RecordingFolder folder;
  folder.lock = std::move(*lock);
  auto events = OpenFrames(*opened, directory, kEventsFile);
  if (!events) {
    return events.error();
  }
  folder.events = std::move(*events);
  for (std::size_t i = 0; i < kTailFiles.size(); ++i) {
    auto tail = OpenFrames(*opened, directory, kTailFiles[i]);
    if (!tail) {
      return tail.error();
    }
    folder.tails[i] = std::move(*tail);
    auto late = OpenFrames(*opened, directory, kLateFiles[i]);
    if (!late) {
      return late.error();
    }
    folder.lates[i] = std::move(*late);
  }
  auto watch = OpenFrames(*opened, directory, kWatchFile);  // Emptied here, so that whoever reads finds it.
  if (!watch) {
    return watch.error();
  }
  auto reserve = OpenFrames(*opened, directory, kReserveFile);
  if (!reserve) {
    return reserve.error();
  }
  folder.reserve = std::move(*reserve);
  // Without room even for this, the recording starts out crippled, but it starts.
  [[maybe_unused]] const int no_room = ::posix_fallocate(folder.reserve.fd(), 0, kReserveBytes);
  return folder;
}

}  // namespace whystop

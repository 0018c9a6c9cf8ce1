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

Status MakeFolder(const std::string& directory) {
  std::error_code fault;
  const fs::path parent = fs::path(directory).parent_path();
  if (!parent.empty()) {
    fs::create_directories(parent, fault);
  }
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return SystemError("cannot make the recording folder '" + directory + "'", errno);
  }
  if (!fs::is_directory(directory, fault)) {
    return Error{Error::Code::kUsage, "'" + directory + "' is not a folder",
                 "choose another place with --dir"};
  }
  return Ok{};
}

/// flock belongs to the open file, so it lives on in every process that inherited it.
Result<Fd> Lock(const std::string& directory) {
  auto lock = OpenFd(PathOf(directory, kLockFile), O_RDWR | O_CREAT);
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
       {kEventsFile, kReserveFile, kTailFiles[0], kTailFiles[1], kWatchFile, kRingFolder}) {
    fs::rename(PathOf(directory, file), PathOf(earlier, file),
               fault);  // Absent ones are no matter.
  }
}

Result<FrameFile> OpenFrames(const std::string& directory, std::string_view name) {
  auto fd = OpenFd(PathOf(directory, name), O_RDWR | O_CREAT | O_TRUNC);
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
  WS_RETURN_IF_ERROR(MakeFolder(directory));
  auto lock = Lock(directory);
  if (!lock) {
    return lock.error();
  }
  MoveEarlierRecording(directory);
  RecordingFolder folder;
  folder.lock = std::move(*lock);
  auto events = OpenFrames(directory, kEventsFile);
  if (!events) {
    return events.error();
  }
  folder.events = std::move(*events);
  for (std::size_t i = 0; i < kTailFiles.size(); ++i) {
    auto tail = OpenFrames(directory, kTailFiles[i]);
    if (!tail) {
      return tail.error();
    }
    folder.tails[i] = std::move(*tail);
  }
  auto watch = OpenFrames(directory, kWatchFile);  // Emptied here, so that whoever reads finds it.
  if (!watch) {
    return watch.error();
  }
  auto reserve = OpenFrames(directory, kReserveFile);
  if (!reserve) {
    return reserve.error();
  }
  folder.reserve = std::move(*reserve);
  // Without room even for this, the recording starts out crippled, but it starts.
  [[maybe_unused]] const int no_room = ::posix_fallocate(folder.reserve.fd(), 0, kReserveBytes);
  return folder;
}

}  // namespace whystop

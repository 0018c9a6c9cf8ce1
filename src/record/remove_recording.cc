#include "record/remove_recording.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>
#include <vector>

#include "base/fd.h"
#include "record/recording_folder.h"

namespace whystop {
namespace {

constexpr std::string_view kEarlierBeginning = "earlier-";
// Of the files beside the rings: Python stacks, written by the probe at a fatal signal.
constexpr std::string_view kRingEndings[] = {".ring", ".stacks"};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// A folder inside another; never through a link, nor into another file system or another user's.
Fd OpenFolder(int parent, const std::string& name) {
  Fd folder(::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat own {};
  struct stat above {};
  const bool ours = folder && ::fstat(folder.get(), &own) == 0 &&
                    (parent == AT_FDCWD || (::fstat(parent, &above) == 0 && own.st_dev == above.st_dev)) &&
                    own.st_uid == ::geteuid();
  return ours ? std::move(folder) : Fd();
}

std::vector<std::string> NamesIn(const Fd& folder) {
  std::vector<std::string> names;
  const int copy = ::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const std::unique_ptr<DIR, CloseFolder> open(copy < 0 ? nullptr : ::fdopendir(copy));
  while (const dirent* entry =
             open ? ::readdir(open.get()) : nullptr) {  // NOLINT(concurrency-mt-unsafe): own DIR
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") {
      names.emplace_back(name);
    }
  }
  return names;
}

bool IsFile(const Fd& folder, std::string_view name) {
  struct stat facts {};
  return ::fstatat(folder.get(), std::string(name).c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(facts.st_mode);
}

/// Takes the lock of a recording folder where it has one. False: somebody holds it.
bool TakeLock(const Fd& folder, std::vector<Fd>& locks) {
  Fd lock(::openat(folder.get(), std::string(kLockFile).c_str(),
                   O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!lock) {
    return errno == ENOENT || errno == ELOOP;
  }
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return false;
  }
  locks.push_back(std::move(lock));
  return true;
}

bool TakeLocks(const Fd& folder, std::vector<Fd>& locks) {
  if (!TakeLock(folder, locks)) {
    return false;
  }
  const Fd trials = OpenFolder(folder.get(), kTrialsFolder);
  for (const std::string& name : trials ? NamesIn(trials) : std::vector<std::string>()) {
    const Fd trial = OpenFolder(trials.get(), name);
    if (trial && !TakeLock(trial, locks)) {
      return false;
    }
  }
  return true;
}

void RemoveFile(const Fd& folder, std::string_view name) {
  if (IsFile(folder, name)) {
    ::unlinkat(folder.get(), std::string(name).c_str(), 0);
  }
}

void RemoveRings(const Fd& parent) {
  const std::string name(kRingFolder);
  const Fd folder = OpenFolder(parent.get(), name);
  for (const std::string& ring : folder ? NamesIn(folder) : std::vector<std::string>()) {
    for (const std::string_view ending : kRingEndings) {
      if (ring.ends_with(ending)) {
        RemoveFile(folder, ring);
      }
    }
  }
  ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
}

/// The events go last but one and the lock last: if we are stopped half-way, what is left is still a
/// recording that can be removed.
void RemoveFiles(const Fd& folder) {
  RemoveRings(folder);
  for (const std::string_view name :
       {kTailFiles[0], kTailFiles[1], kLateFiles[0], kLateFiles[1], kMiddleFile, kMiddleNewFile, kWatchFile, kReserveFile, kEventsFile,
        kLockFile}) {
    RemoveFile(folder, name);
  }
}

void RemoveEarlier(const Fd& parent) {
  for (const std::string& name : NamesIn(parent)) {
    const Fd earlier = name.starts_with(kEarlierBeginning) ? OpenFolder(parent.get(), name) : Fd();
    if (earlier && IsFile(earlier, kEventsFile)) {
      RemoveFiles(earlier);
      ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
    }
  }
}

void RemoveTrials(const Fd& parent) {
  const Fd trials = OpenFolder(parent.get(), kTrialsFolder);
  for (const std::string& name : trials ? NamesIn(trials) : std::vector<std::string>()) {
    const Fd trial = OpenFolder(trials.get(), name);
    if (!trial || !IsFile(trial, kSpecFile)) {
      continue;
    }
    for (const char* file : {kFaultFile, kStateFile, kSpecFile}) {
      RemoveFile(trial, file);
    }
    RemoveFiles(trial);
    ::unlinkat(trials.get(), name.c_str(), AT_REMOVEDIR);
  }
  ::unlinkat(parent.get(), kTrialsFolder, AT_REMOVEDIR);
}

}  // namespace

Status RemoveRecording(const std::string& directory) {
  const Fd folder = OpenFolder(AT_FDCWD, directory);
  if (!folder || !IsFile(folder, kEventsFile)) {
    return Error{Error::Code::kNotFound, "'" + directory + "' is no recording of this user's", ""};
  }
  std::vector<Fd> locks;  // Held until all is gone.
  if (!TakeLocks(folder, locks)) {
    return Error{Error::Code::kBusy, "'" + directory + "' is being written", ""};
  }
  RemoveEarlier(folder);
  RemoveTrials(folder);
  RemoveFiles(folder);
  if (IsFile(folder, kEventsFile)) {
    return Error{Error::Code::kNoPermission, "the files of '" + directory + "' cannot be removed", ""};
  }
  ::rmdir(directory.c_str());  // Stays where it holds something else.
  return Ok{};
}

}  // namespace whystop

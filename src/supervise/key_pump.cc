#include "supervise/key_pump.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include "base/parse.h"

namespace whystop {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

/// Calls `visit` with each entry of a folder that is a number, until it returns true.
template <typename Visit>
bool AnyNumber(const std::string& path, Visit visit) {
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(path.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get())
                                      : nullptr) {  // NOLINT(concurrency-mt-unsafe): own DIR
    const auto number = ParseWhole<int>(std::string_view(entry->d_name));
    if (number && visit(*number)) {
      return true;
    }
  }
  return false;
}

/// "flags:\t0100002" of fdinfo: the last octal digit has the access mode.
bool IsReadable(const std::string& fdinfo_path) {
  const auto text = ReadFile(fdinfo_path, 4096);
  if (!text) {
    return false;
  }
  const std::size_t flags = text->find("flags:");
  const std::size_t end = text->find('\n', flags);
  if (flags == std::string::npos || end == std::string::npos || end == 0) {
    return false;
  }
  return (((*text)[end - 1] - '0') & O_ACCMODE) != O_WRONLY;
}

bool HasOpenedForReading(pid_t pid, std::string_view terminal_name) {
  const std::string folder = "/proc/" + std::to_string(pid);
  return AnyNumber(folder + "/fd", [&](int number) {
    if (number <= 2) {
      return false;  // Given to it, not opened by it.
    }
    std::array<char, PATH_MAX> target{};
    const std::string link = folder + "/fd/" + std::to_string(number);
    const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
    return size > 0 &&
           std::string_view(target.data(), static_cast<std::size_t>(size)) == terminal_name &&
           IsReadable(folder + "/fdinfo/" + std::to_string(number));
  });
}

}  // namespace

bool KeyPump::IsNeeded(int job_terminal) {
  std::array<char, 64> name{};
  if (::ptsname_r(job_terminal, name.data(), name.size()) != 0) {
    return false;
  }
  const pid_t session = ::getsid(0);
  return AnyNumber("/proc", [&](int pid) {
    return pid != ::getpid() && ::getsid(pid) == session && HasOpenedForReading(pid, name.data());
  });
}

KeyPump::KeyPump(int job_terminal) : job_terminal_(job_terminal) {
  if (auto terminal = OpenFd("/dev/tty", O_RDONLY | O_NONBLOCK)) {
    users_terminal_ = std::move(*terminal);
  }
}

bool KeyPump::Pump() const {
  std::array<char, 1024> keys{};
  const ssize_t size = ReadSome(users_terminal_.get(), keys);
  if (size <= 0) {
    return size < 0 && errno == EAGAIN;
  }
  return WriteAll(job_terminal_, {keys.data(), static_cast<std::size_t>(size)}) == 0;
}

}  // namespace whystop

#include "look/stack_signal.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/parse.h"
#include "look/python_stacks.h"

namespace whystop {
namespace {

constexpr int kPatienceMs = 2000;
constexpr int kPauseMs = 50;
constexpr std::size_t kDumpBytesMax = 1 << 20;

bool Handles(pid_t pid, int signal) {
  const auto status = ReadFile(fmt::format("/proc/{}/status", pid), 8192);
  constexpr std::string_view kCaught = "SigCgt:";
  const std::size_t at = status ? status->find(kCaught) : std::string::npos;
  if (at == std::string::npos) {
    return false;
  }
  const std::string_view rest = std::string_view(*status).substr(at + kCaught.size());
  const std::string_view mask = Trim(rest.substr(0, rest.find('\n')));
  std::uint64_t caught = 0;
  std::from_chars(mask.data(), mask.data() + mask.size(), caught, 16);
  return signal > 0 && signal <= 64 && (caught >> (signal - 1) & 1) != 0;
}

/// The file that the process, or the one that it was forked from, opened for its stacks.
std::optional<std::string> DumpFileOf(pid_t pid) {
  const std::string folder = fmt::format("/proc/{}/fd", pid);
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), &::closedir);
  while (const dirent* entry = open ? ::readdir(open.get()) : nullptr) {
    std::array<char, 4096> target{};
    const std::string link = folder + "/" + entry->d_name;
    const ssize_t size = ::readlink(link.c_str(), target.data(), target.size());
    const std::string_view path(target.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    if (path.ends_with(".stacks")) {
      return std::string(path);
    }
  }
  return std::nullopt;
}

off_t SizeOf(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0 ? facts.st_size : 0;
}

/// `  File "train.py", line 12 in step`
std::optional<Frame> ParseFrame(std::string_view line) {
  constexpr std::string_view kHead = "  File \"", kLine = "\", line ", kIn = " in ";
  const std::size_t middle = line.rfind(kLine);
  if (!line.starts_with(kHead) || middle == std::string_view::npos) {
    return std::nullopt;
  }
  Frame frame;
  frame.file = std::string(line.substr(kHead.size(), middle - kHead.size()));
  const std::string_view rest = line.substr(middle + kLine.size());
  const std::size_t in = rest.find(kIn);
  frame.line = ParseWhole<std::int64_t>(rest.substr(0, in)).value_or(0);
  frame.function = in == std::string_view::npos ? "" : std::string(rest.substr(in + kIn.size()));
  frame.users_own = IsUsersOwn(frame.file);
  return frame;
}

}  // namespace

std::vector<DumpedThread> ParseStackDump(std::string_view text) {
  std::vector<DumpedThread> threads;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (line.starts_with("Thread 0x") || line.starts_with("Current thread 0x")) {
      threads.push_back({.current = line.starts_with("Current"), .frames = {}});
    } else if (const auto frame = threads.empty() ? std::nullopt : ParseFrame(line)) {
      threads.back().frames.insert(threads.back().frames.begin(), *frame);
    }
  }
  return threads;
}

std::vector<DumpedThread> AskForStacks(pid_t pid, int signal) {
  const auto path = DumpFileOf(pid);
  if (!path || !Handles(pid, signal)) {
    return {};
  }
  const off_t before = SizeOf(*path);
  if (::syscall(SYS_tgkill, pid, pid, signal) != 0) {
    return {};
  }
  off_t size = before;
  for (int waited = 0; waited < kPatienceMs; waited += kPauseMs) {
    ::poll(nullptr, 0, kPauseMs);
    const off_t now = SizeOf(*path);
    if (now > before && now == size) {
      break;  // Written, and nothing came since.
    }
    size = now;
  }
  auto file = OpenFd(*path, O_RDONLY);
  std::string text(std::min(static_cast<std::size_t>(std::max<off_t>(size - before, 0)), kDumpBytesMax),
                   '\0');
  const ssize_t got = file ? ReadAt(file->get(), text, before) : -1;
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return ParseStackDump(text);
}

}  // namespace whystop

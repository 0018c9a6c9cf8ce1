#include "import/plain_log/plain_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

constexpr std::size_t kReadBytes =
    256 << 10;  // Larger reads are no faster; mmap is not either and may SIGBUS.

}  // namespace

Result<PlainLogStats> ReadPlainLog(const std::string& path, EventSink& out) {
  const bool standard_input = path == "-";
  Fd file;
  if (!standard_input) {
    file = Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (file.get() < 0) {
      return SystemError("cannot open '" + path + "'", errno);
    }
  }
  const int fd = standard_input ? STDIN_FILENO : file.get();
  LogReader reader(standard_input ? "stdin" : path, out, {.text_end = true});
  const auto buffer = std::make_unique<char[]>(kReadBytes);
  PlainLogStats stats;
  for (;;) {
    const ssize_t got = ::read(fd, buffer.get(), kReadBytes);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      return SystemError("cannot read '" + path + "'", errno);
    }
    if (got == 0) {
      break;
    }
    stats.bytes += got;
    reader.Feed({buffer.get(), static_cast<std::size_t>(got)}, RunTime{});
  }
  reader.Finish(RunTime{}, std::nullopt);
  return stats;
}

bool LooksLikeText(std::string_view start) {
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) {
    return true;
  }
  start = start.substr(0, 64 << 10);
  std::size_t odd = 0;
  std::size_t nul_runs = 0;
  std::size_t counted = 0;
  for (std::size_t at = 0; at < start.size(); ++at) {
    const auto byte = static_cast<unsigned char>(start[at]);
    if (byte == 0) {
      nul_runs += at == 0 || start[at - 1] != 0 ? 1 : 0;
      continue;
    }
    ++counted;
    odd += (byte < 0x20 && byte != '\n' && byte != '\r' && byte != '\t' && byte != 0x1B &&
            byte != '\b' && byte != '\f' && byte != '\a') ||
                   byte == 0x7F
               ? 1
               : 0;
  }
  // A crashed machine leaves few long runs of NULs; a binary file has many short ones.
  return odd * 100 <= counted && nul_runs * 200 <= counted + 199;
}

}  // namespace whystop

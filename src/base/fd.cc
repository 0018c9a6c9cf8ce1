#include "base/fd.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace whystop {

Fd& Fd::operator=(Fd&& other) noexcept {
  if (this != &other) {
    Close();
    number_ = std::exchange(other.number_, -1);
  }
  return *this;
}

void Fd::Close() {
  if (number_ >= 0) {
    ::close(number_);
    number_ = -1;
  }
}

Result<Fd> OpenFd(const std::string& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0) {
    return SystemError("cannot open '" + path + "'", errno);
  }
  return Fd(fd);
}

ssize_t ReadSome(int fd, std::span<char> into) {
  ssize_t size = 0;
  do {
    size = ::read(fd, into.data(), into.size());
  } while (size < 0 && errno == EINTR);
  return size;
}

ssize_t ReadAt(int fd, std::span<char> into, off_t offset) {
  ssize_t size = 0;
  do {
    size = ::pread(fd, into.data(), into.size(), offset);
  } while (size < 0 && errno == EINTR);
  return size;
}

ssize_t WriteSome(int fd, std::string_view bytes) {
  ssize_t size = 0;
  do {
    size = ::write(fd, bytes.data(), bytes.size());
  } while (size < 0 && errno == EINTR);
  return size;
}

int WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = WriteSome(fd, bytes);
    if (size < 0) {
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return 0;
}

Result<std::string> ReadFile(const std::string& path, std::size_t limit) {
  auto fd = OpenFd(path, O_RDONLY);
  if (!fd) {
    return fd.error();
  }
  std::string text;
  std::size_t used = 0;
  while (used < limit) {
    text.resize(std::min(limit, used + 16384));
    const ssize_t size = ReadSome(fd->get(), {text.data() + used, text.size() - used});
    if (size < 0) {
      return SystemError("cannot read '" + path + "'", errno);
    }
    if (size == 0) {
      break;
    }
    used += static_cast<std::size_t>(size);
  }
  text.resize(used);
  return text;
}

}  // namespace whystop

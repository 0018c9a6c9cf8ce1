#pragma once

#include <sys/types.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace whystop {

/// Owns one file descriptor. Moves, never copies; closes at the end of its life.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int number) : number_(number) {}
  Fd(Fd&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Fd& operator=(Fd&& other) noexcept;
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { Close(); }

  int get() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }
  int Release() { return std::exchange(number_, -1); }
  void Close();

 private:
  int number_ = -1;
};

/// open(2) with close-on-exec and EINTR handled. The Error names the path.
Result<Fd> OpenFd(const std::string& path, int flags, mode_t mode = 0600);

/// read(2)/pread(2)/write(2) that go on after EINTR. Negative: errno is set.
ssize_t ReadSome(int fd, std::span<char> into);
ssize_t ReadAt(int fd, std::span<char> into, off_t offset);
ssize_t WriteSome(int fd, std::string_view bytes);

/// Writes all of `bytes`, or says which errno stopped it (0: all written).
int WriteAll(int fd, std::string_view bytes);

/// The whole file, at most `limit` bytes of it; meant for /proc, /sys and small configuration
/// files.
Result<std::string> ReadFile(const std::string& path, std::size_t limit = 1 << 20);

}  // namespace whystop

#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/fd.h"

namespace whystop {

/// One file of frames that only grows. Frames are written whole or not at all: what a failed write
/// left behind is cut off again.
class FrameFile {
 public:
  FrameFile() = default;
  explicit FrameFile(Fd fd) : fd_(std::move(fd)) {}

  /// Writes frames. Returns 0 or the errno that stopped it.
  int Append(std::string_view frames);
  /// Goes on behind what another process has written; for the one that takes over.
  void GoToEnd();
  void Sync() const;
  /// Starts over with an empty file; for the two halves of the log's tail.
  int Clear();

  int fd() const { return fd_.get(); }
  std::int64_t size() const { return size_; }

 private:
  Fd fd_;
  std::int64_t size_ = 0;
};

}  // namespace whystop

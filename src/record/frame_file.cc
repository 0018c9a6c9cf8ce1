#include "record/frame_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace whystop {

int FrameFile::Append(std::string_view frames) {
  std::int64_t end = size_;
  while (!frames.empty()) {
    const ssize_t written = ::pwrite(fd_.get(), frames.data(), frames.size(), end);
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      const int fault = written < 0 ? errno : EIO;
      // Best effort: half a frame at the end is a torn tail, but a frame behind it would make it
      // corruption.
      [[maybe_unused]] const int cut = ::ftruncate(fd_.get(), size_);
      return fault;
    }
    end += written;
    frames.remove_prefix(static_cast<std::size_t>(written));
  }
  size_ = end;
  return 0;
}

void FrameFile::GoToEnd() {
  struct stat facts {};
  if (fd_ && ::fstat(fd_.get(), &facts) == 0) {
    size_ = facts.st_size;
  }
}

void FrameFile::Sync() const {
  if (fd_) {
    ::fdatasync(fd_.get());
  }
}

int FrameFile::Clear() {
  if (::ftruncate(fd_.get(), 0) != 0) {
    return errno;
  }
  size_ = 0;
  return 0;
}

}  // namespace whystop

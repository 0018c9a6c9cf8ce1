#include "supervise/file_follower.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/fd.h"

namespace whystop {

void FileFollower::SkipTo(std::int64_t limit_bytes) {
  struct stat facts {};
  if (::fstat(file_, &facts) != 0) {
    end_ = position_;
    return;
  }
  end_ = facts.st_size;
  const off_t written_to = writer_ >= 0 ? ::lseek(writer_, 0, SEEK_CUR) : -1;
  if (written_to >= 0) {
    end_ = std::min<std::int64_t>(end_, written_to);
  }
  if (end_ < position_) {
    position_ = 0;
  }
  if (end_ - position_ > limit_bytes) {
    skipped_bytes_ += end_ - position_ - limit_bytes;
    position_ = end_ - limit_bytes;
  }
}

std::string_view FileFollower::Next() {
  const std::int64_t wanted = std::min<std::int64_t>(end_ - position_, sizeof(piece_));
  if (wanted <= 0) {
    return {};
  }
  const ssize_t size = ReadAt(file_, {piece_, static_cast<std::size_t>(wanted)}, position_);
  if (size <= 0) {
    return {};
  }
  position_ += size;
  return {piece_, static_cast<std::size_t>(size)};
}

}  // namespace whystop

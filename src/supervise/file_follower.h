#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

namespace whystop {

/// Reads what was added to a growing file. The file may also shrink: somebody truncated it to start
/// anew.
class FileFollower {
 public:
  /// `position` is where to go on reading, kept in memory that another process can take over.
  /// `writer` shares its file position with those who write, for a file that is overwritten and not
  /// appended to; -1 for one that is.
  FileFollower(int file, int writer, std::atomic<std::int64_t>& position)
      : file_(file), writer_(writer), position_(position) {}

  /// Gives all that is new to `sink` in pieces, at most `limit_bytes` in all: of more than that the
  /// oldest is skipped and counted.
  template <typename Sink>
  void Follow(std::int64_t limit_bytes, Sink sink) {
    SkipTo(limit_bytes);
    for (std::string_view piece = Next(); !piece.empty(); piece = Next()) {
      sink(piece);
    }
  }
  std::int64_t skipped_bytes() const { return skipped_bytes_; }

 private:
  void SkipTo(std::int64_t limit_bytes);
  std::string_view Next();

  int file_;
  int writer_;
  std::atomic<std::int64_t>& position_;
  std::int64_t end_ = 0;
  std::int64_t skipped_bytes_ = 0;
  char piece_[65536];
};

}  // namespace whystop

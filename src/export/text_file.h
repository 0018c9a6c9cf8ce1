#pragma once

#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace whystop {

/// A new file that is written in large pieces. The first fault is kept and told at the end.
class TextFile {
 public:
  /// "-" is standard output. kUsage: the file is there already.
  static Result<TextFile> Create(const std::string& path);

  void Append(std::string_view text);
  Status Finish();

 private:
  static constexpr std::size_t kPieceBytes = 256 << 10;
  TextFile(Fd fd, int number, std::string path)
      : fd_(std::move(fd)), number_(number), path_(std::move(path)) {}
  void Flush();

  Fd fd_;  // Not open: standard output, which is not ours to close.
  int number_;
  std::string path_;
  std::string held_;
  int fault_ = 0;
};

/// The error of a place that is taken.
Error AlreadyThere(const std::string& path);

}  // namespace whystop

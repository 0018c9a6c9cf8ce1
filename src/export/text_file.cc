#include "export/text_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace whystop {

Error AlreadyThere(const std::string& path) {
  return {Error::Code::kUsage, "'" + path + "' is there already", "name another with -o"};
}

Result<TextFile> TextFile::Create(const std::string& path) {
  if (path == "-") {
    return TextFile(Fd(), STDOUT_FILENO, "standard output");
  }
  Fd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) {
    return errno == EEXIST ? AlreadyThere(path) : SystemError("cannot write '" + path + "'", errno);
  }
  const int number = fd.get();
  return TextFile(std::move(fd), number, path);
}

void TextFile::Append(std::string_view text) {
  held_ += text;
  if (held_.size() >= kPieceBytes) {
    Flush();
  }
}

void TextFile::Flush() {
  if (fault_ == 0) {
    fault_ = WriteAll(number_, held_);
  }
  held_.clear();
}

Status TextFile::Finish() {
  Flush();
  // A reader that went away has what it wanted.
  if (fault_ != 0 && fault_ != EPIPE) {
    return SystemError("cannot write '" + path_ + "'", fault_);
  }
  return Ok{};
}

}  // namespace whystop

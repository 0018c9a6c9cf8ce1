#include "import/byte_source.h"

#include <fcntl.h>

#include <cerrno>

namespace whystop {

Result<std::unique_ptr<FileSource>> FileSource::Open(const std::string& path) {
  auto fd = OpenFd(path, O_RDONLY);
  if (!fd) {
    return fd.error();
  }
  return std::make_unique<FileSource>(std::move(*fd), path);
}

std::string_view FileSource::Next() {
  const ssize_t size = ReadSome(fd_.get(), buffer_);
  if (size < 0) {
    fault_ = SystemError("cannot read '" + path_ + "'", errno).what;
    return {};
  }
  return {buffer_.data(), static_cast<std::size_t>(size)};
}

}  // namespace whystop

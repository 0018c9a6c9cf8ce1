#include "sense/kept_file.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

namespace whystop {

KeptFile::KeptFile(KeptFile&& other) noexcept
    : path_(std::move(other.path_)), budget_(other.budget_), fd_(std::move(other.fd_)) {}

KeptFile& KeptFile::operator=(KeptFile&& other) noexcept {
  if (this != &other) {
    Forget();
    path_ = std::move(other.path_);
    budget_ = other.budget_;
    fd_ = std::move(other.fd_);
  }
  return *this;
}

void KeptFile::Forget() {
  if (fd_) {
    fd_.Close();
    budget_->Give();
  }
}

std::optional<std::string_view> KeptFile::Read(std::span<char> buffer) {
  Fd opened;
  if (!fd_) {
    // Not OpenFd: that one builds a message, and most of these failures are ordinary.
    opened = Fd(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened) {
      return std::nullopt;
    }
  }
  const ssize_t size = ReadAt(fd_ ? fd_.get() : opened.get(), buffer, 0);
  const int fault = errno;
  if (size < 0) {
    opened.Close();
    Forget();
    errno = fault;
    return std::nullopt;
  }
  if (opened && budget_->Take()) {
    fd_ = std::move(opened);
  }
  return std::string_view(buffer.data(), static_cast<std::size_t>(size));
}

KeptFolder::KeptFolder(std::string path, DescriptorBudget& budget)
    : path_(std::move(path)), budget_(&budget) {
  if (budget.Take()) {
    fd_ = Fd(::open(path_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!fd_) {
      budget.Give();
    }
  }
}

KeptFolder::~KeptFolder() {
  if (fd_) {
    budget_->Give();
  }
}

std::optional<std::int64_t> KeptFolder::SizeOfEntry() const {
  struct stat info {};
  const int fault = fd_ ? ::fstat(fd_.get(), &info) : ::stat(path_.c_str(), &info);
  return fault == 0 ? std::optional<std::int64_t>(info.st_size) : std::nullopt;
}

}  // namespace whystop

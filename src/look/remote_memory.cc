#include "look/remote_memory.h"

#include <sys/uio.h>

#include <cerrno>

namespace whystop {

bool RemoteMemory::Read(std::uint64_t address, void* into, std::size_t bytes) const {
  if (address == 0) {
    fault_ = EFAULT;
    return false;
  }
  iovec local{into, bytes};
  iovec remote{reinterpret_cast<void*>(address), bytes};
  const ssize_t size = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (size != static_cast<ssize_t>(bytes)) {
    fault_ = size < 0 ? errno : EFAULT;
    return false;
  }
  return true;
}

std::optional<std::string> RemoteMemory::ReadBytes(std::uint64_t address, std::size_t bytes) const {
  std::string out(bytes, '\0');
  if (bytes == 0 || Read(address, out.data(), bytes)) {
    return out;
  }
  return std::nullopt;
}

}  // namespace whystop

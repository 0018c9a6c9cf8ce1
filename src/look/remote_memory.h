#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>

namespace whystop {

/// Reads another process's memory while it runs on. Nothing is changed there and it is not held up;
/// what is read may be in the middle of a change, so every pointer is to be doubted.
class RemoteMemory {
 public:
  explicit RemoteMemory(pid_t pid) : pid_(pid) {}

  /// False: not readable (gone, not mapped, not permitted; see fault()).
  bool Read(std::uint64_t address, void* into, std::size_t bytes) const;
  std::optional<std::string> ReadBytes(std::uint64_t address, std::size_t bytes) const;
  template <typename T>
  std::optional<T> Value(std::uint64_t address) const {
    static_assert(std::is_trivially_copyable_v<T>);
    T value{};
    return Read(address, &value, sizeof(value)) ? std::optional<T>(value) : std::nullopt;
  }
  /// errno of the last failed read.
  int fault() const { return fault_; }

 private:
  pid_t pid_;
  mutable int fault_ = 0;
};

}  // namespace whystop

#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace whystop {

/// Reads numbers and texts off the bytes of an object file. Beyond the end everything is 0 or empty, and `good` is false:
/// the file may be cut or made up.
class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  T Take() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      good_ = false;
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::uint64_t TakeSized(std::size_t size) {
    switch (size) {
      case 1: return Take<std::uint8_t>();
      case 2: return Take<std::uint16_t>();
      case 4: return Take<std::uint32_t>();
      case 8: return Take<std::uint64_t>();
      default: Skip(size); return 0;
    }
  }
  std::uint64_t TakeUnsigned() {  // LEB128
    std::uint64_t value = 0;
    for (unsigned shift = 0; good_; shift += 7) {
      const auto byte = Take<std::uint8_t>();
      value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7FU) << shift : 0;
      if ((byte & 0x80U) == 0) {
        break;
      }
    }
    return value;
  }
  std::int64_t TakeSigned() {  // LEB128
    std::uint64_t value = 0;
    for (unsigned shift = 0; good_;) {
      const auto byte = Take<std::uint8_t>();
      value |= shift < 64 ? static_cast<std::uint64_t>(byte & 0x7FU) << shift : 0;
      shift += 7;
      if ((byte & 0x80U) == 0) {
        value |= shift < 64 && (byte & 0x40U) != 0 ? ~std::uint64_t{0} << shift : 0;
        break;
      }
    }
    return static_cast<std::int64_t>(value);
  }
  std::string_view TakeText() {
    const std::size_t end = bytes_.find('\0');
    if (end == std::string_view::npos) {
      good_ = false;
      bytes_ = {};
      return {};
    }
    const std::string_view text = bytes_.substr(0, end);
    bytes_.remove_prefix(end + 1);
    return text;
  }
  void Skip(std::uint64_t count) {
    good_ = good_ && count <= bytes_.size();
    bytes_.remove_prefix(count <= bytes_.size() ? static_cast<std::size_t>(count) : bytes_.size());
  }
  /// The next `count` bytes, as a cursor of their own.
  ByteCursor Split(std::uint64_t count) {
    ByteCursor part(bytes_.substr(0, count <= bytes_.size() ? static_cast<std::size_t>(count) : 0));
    Skip(count);
    return part;
  }
  std::size_t left() const { return bytes_.size(); }
  bool good() const { return good_; }

 private:
  std::string_view bytes_;
  bool good_ = true;
};

/// The text at `offset` of a table of texts; empty beyond it.
inline std::string_view TextAt(std::string_view table, std::uint64_t offset) {
  const std::string_view rest = offset < table.size() ? table.substr(static_cast<std::size_t>(offset)) : std::string_view();
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

}  // namespace whystop

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "wire/ring_format.h"

namespace whystop {

/// Room for the body of the largest OBSERVATION record.
struct ObservationRoom {
  char bytes[kPartsMax * kSlotBodyBytes];
};

/// Builds the body of an OBSERVATION record in `room`, without the heap. What does not fit is cut or
/// left out, and the record says so.
class ObservationEncoder {
 public:
  static constexpr std::size_t kRoomMin = 512;  // Holds any kind, and some short attributes.
  ObservationEncoder(std::string_view kind, std::span<char> room);
  void SetStep(std::int64_t step);
  void Add(std::string_view key, double value);
  void Add(std::string_view key, std::string_view text);
  std::string_view body() const { return {bytes_.data(), size_}; }

 private:
  bool BeginAttribute(std::string_view key, std::uint8_t type, std::size_t value_bytes_min);
  void Append(const void* from, std::size_t size);
  void AppendShort(std::string_view text);

  std::span<char> bytes_;
  std::size_t size_ = 0;
};

}  // namespace whystop

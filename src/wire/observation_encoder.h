#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/ring_format.h"

namespace whystop {

/// Builds the body of an OBSERVATION record in place, without the heap. What does not fit is cut or
/// left out, and the record says so.
class ObservationEncoder {
 public:
  explicit ObservationEncoder(std::string_view kind);
  void SetStep(std::int64_t step);
  void Add(std::string_view key, double value);
  void Add(std::string_view key, std::string_view text);
  std::string_view body() const { return {bytes_, size_}; }

 private:
  bool BeginAttribute(std::string_view key, std::uint8_t type, std::size_t value_bytes_min);
  void Append(const void* from, std::size_t size);
  void AppendShort(std::string_view text);

  char bytes_[kPartsMax * kSlotBodyBytes];
  std::size_t size_ = 0;
};

}  // namespace whystop

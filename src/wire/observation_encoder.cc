#include "wire/observation_encoder.h"

#include <algorithm>
#include <cstring>

#include "wire/ring_file.h"

namespace whystop {
namespace {

constexpr std::size_t kPresentAt = 8;
constexpr std::size_t kCountAt = 9;
constexpr char kHasStep = 1;
constexpr char kCut = 2;
constexpr std::size_t kShortTextMax = 255;
constexpr std::size_t kLongTextMax = 65535;

}  // namespace

ObservationEncoder::ObservationEncoder(std::string_view kind, std::span<char> room)
    : bytes_(room) {
  std::memset(bytes_.data(), 0, kCountAt + 1);
  size_ = kCountAt + 1;
  AppendShort(kind);
}

void ObservationEncoder::SetStep(std::int64_t step) {
  std::memcpy(bytes_.data(), &step, sizeof(step));
  bytes_[kPresentAt] = static_cast<char>(bytes_[kPresentAt] | kHasStep);
}

void ObservationEncoder::Append(const void* from, std::size_t size) {
  std::memcpy(bytes_.data() + size_, from, size);
  size_ += size;
}

void ObservationEncoder::AppendShort(std::string_view text) {
  const std::string_view fitting = CutText(text, kShortTextMax);
  const auto length = static_cast<std::uint8_t>(fitting.size());
  Append(&length, 1);
  Append(fitting.data(), fitting.size());
}

bool ObservationEncoder::BeginAttribute(std::string_view key, std::uint8_t type,
                                        std::size_t value_bytes_min) {
  const std::size_t needed = 1 + std::min(key.size(), kShortTextMax) + 1 + value_bytes_min;
  const auto count = static_cast<unsigned char>(bytes_[kCountAt]);
  if (count >= kAttributesMax || bytes_.size() - size_ < needed) {
    bytes_[kPresentAt] = static_cast<char>(bytes_[kPresentAt] | kCut);
    return false;
  }
  bytes_[kCountAt] = static_cast<char>(count + 1);
  AppendShort(key);
  Append(&type, 1);
  return true;
}

void ObservationEncoder::Add(std::string_view key, double value) {
  if (BeginAttribute(key, 0, sizeof(value))) {
    Append(&value, sizeof(value));
  }
}

void ObservationEncoder::Add(std::string_view key, std::string_view text) {
  if (!BeginAttribute(key, 1, sizeof(std::uint16_t))) {
    return;
  }
  const std::size_t room = std::min(kLongTextMax, bytes_.size() - size_ - sizeof(std::uint16_t));
  const std::string_view fitting = CutText(text, room);
  if (fitting.size() < text.size()) {
    bytes_[kPresentAt] = static_cast<char>(bytes_[kPresentAt] | kCut);
  }
  const auto length = static_cast<std::uint16_t>(fitting.size());
  Append(&length, sizeof(length));
  Append(fitting.data(), fitting.size());
}

}  // namespace whystop

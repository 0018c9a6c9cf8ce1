#include "text/line_shape.h"

#include <cstring>

namespace whystop {
namespace {

// Any signed or unsigned whole number of 15 digits is exact as a double, 18 fit 64 bits.
constexpr std::size_t kWholeDigitsMax = 15;
constexpr std::size_t kDecimalsMax = 18;
constexpr std::size_t kExponentDigitsMax = 2;
constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15ULL;

// Sixteen bytes at once, in the terms of both compilers instead of one processor's.
using Block = unsigned char __attribute__((vector_size(16)));

Block WithoutDigits(Block text) {
  const auto digit = (text - '0') <= 9;
  return (Block)((Block)digit & (Block{} + '0')) | (text & ~(Block)digit);
}

std::uint64_t Fold(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

bool IsZero(std::string_view shape, std::size_t at) {
  return at < shape.size() && shape[at] == '0';
}

/// Does the run of digits at `at` stand behind "1e", "2.5e-" and the like?
bool IsExponent(std::string_view shape, std::size_t at) {
  if (at > 0 && (shape[at - 1] == '-' || shape[at - 1] == '+')) {
    --at;
  }
  return at >= 2 && (shape[at - 1] | 0x20) == 'e' && (shape[at - 2] == '0' || shape[at - 2] == '.');
}

}  // namespace

std::uint64_t MakeShape(std::string_view line, char* out) {
  std::uint64_t hash = line.size() * kMix;
  const auto take = [&hash, out](const char* from, std::size_t at) {
    Block block;
    std::memcpy(&block, from, sizeof block);
    block = WithoutDigits(block);
    std::memcpy(out + at, &block, sizeof block);
    std::uint64_t halves[2];
    std::memcpy(halves, &block, sizeof halves);
    hash = Fold(hash ^ halves[0] ^ kMix, halves[1] ^ (kMix << 1 | 1));
  };
  std::size_t at = 0;
  for (; at + sizeof(Block) <= line.size(); at += sizeof(Block)) {
    take(line.data() + at, at);
  }
  if (at < line.size() && line.size() >= sizeof(Block)) {
    take(line.data() + line.size() - sizeof(Block), line.size() - sizeof(Block));  // Overlaps.
  } else if (at < line.size()) {
    char padded[sizeof(Block)] = {};
    std::memcpy(padded, line.data(), line.size());
    take(padded, 0);
  }
  return hash;
}

bool IsTameShape(std::string_view shape) {
  std::size_t at = 0;
  while ((at = shape.find('0', at)) != std::string_view::npos) {
    std::size_t end = at;
    while (IsZero(shape, end)) {
      ++end;
    }
    const bool decimals = at > 0 && shape[at - 1] == '.';
    const std::size_t digits_max = IsExponent(shape, at) ? kExponentDigitsMax
                                   : decimals            ? kDecimalsMax
                                                         : kWholeDigitsMax;
    if (end - at > digits_max) {
      return false;
    }
    at = end;
  }
  return shape.find(",000,000,000") == std::string_view::npos;  // Joined only while below a limit.
}

}  // namespace whystop

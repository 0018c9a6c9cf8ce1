#include "look/line_table.h"

namespace whystop {
namespace {

unsigned Byte(std::string_view table, std::size_t at) {
  return static_cast<unsigned char>(table[at]);
}

int Signed(std::string_view table, std::size_t at) { return static_cast<signed char>(table[at]); }

std::int64_t LineIn39(std::string_view table, std::int64_t line, std::int64_t offset) {
  std::int64_t at = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    at += Byte(table, i);
    if (at > offset) {
      break;
    }
    line += Signed(table, i + 1);
  }
  return line;
}

std::int64_t LineIn310(std::string_view table, std::int64_t line, std::int64_t offset) {
  constexpr int kNoLine = -128;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    end += Byte(table, i);
    const int delta = Signed(table, i + 1);
    line += delta == kNoLine ? 0 : delta;
    if (offset < end) {
      return delta == kNoLine ? 0 : line;
    }
  }
  return line;
}

/// The entries of 3.11 on: a byte with form and length, then what the form asks for.
class LocationTable {
 public:
  explicit LocationTable(std::string_view table) : table_(table) {}

  std::int64_t Find(std::int64_t line, std::int64_t offset) {
    std::int64_t end = 0;
    while (at_ < table_.size()) {
      const unsigned head = Byte(table_, at_++);
      constexpr unsigned kBytesAUnit = 2;
      end += ((head & 7) + 1) * kBytesAUnit;
      const unsigned form = head >> 3 & 15;
      line += Delta(form);
      if (offset < end) {
        return form == kNone ? 0 : line;
      }
    }
    return line;
  }

 private:
  static constexpr unsigned kNone = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;

  std::int64_t Delta(unsigned form) {
    if (form == kNone) {
      return 0;
    }
    if (form == kLong) {
      const std::int64_t delta = SignedNumber();
      Number();
      Number();
      Number();
      return delta;
    }
    if (form == kNoColumns) {
      return SignedNumber();
    }
    at_ += form >= kOneLine ? 2 : 1;
    return form >= kOneLine ? form - kOneLine : 0;
  }

  /// Six bits a byte, the lowest first; bit 6 says that more follow.
  std::uint64_t Number() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ < table_.size() && shift < 60; shift += 6) {
      const unsigned byte = Byte(table_, at_++);
      value |= std::uint64_t{byte & 63} << shift;
      if ((byte & 64) == 0) {
        break;
      }
    }
    return value;
  }
  std::int64_t SignedNumber() {
    const std::uint64_t value = Number();
    const auto half = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -half : half;
  }

  std::string_view table_;
  std::size_t at_ = 0;
};

}  // namespace

std::int64_t LineAt(int minor, std::string_view table, std::int64_t first_line,
                    std::int64_t offset) {
  if (minor <= 9) {
    return LineIn39(table, first_line, offset);
  }
  return minor == 10 ? LineIn310(table, first_line, offset)
                     : LocationTable(table).Find(first_line, offset);
}

}  // namespace whystop

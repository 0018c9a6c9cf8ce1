#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace whystop {

/// A number at the start of a text, and what kind of thing its surroundings make it.
struct NumberToken {
  double value = 0;
  bool whole = false;    // Written without point or exponent.
  std::size_t size = 0;  // Bytes of the number itself.
};

/// Reads "12", "-0.5", "1.2e-05", ".5", "nan", "-inf", "Infinity", "tensor(0.43, device='cuda:0')"
/// (all of it). Refuses what only looks like a number: clock times, dates, versions, hexadecimal,
/// "12abc34".
std::optional<NumberToken> ReadNumber(std::string_view text);

/// The value of digits with at most a sign and a point, 15 digits in all, as ReadNumber gives it.
double ReadPlainNumber(std::string_view text, std::size_t decimals);

/// The value of a whole token of digits, point and exponent, as ReadNumber gives it.
double ReadDecimal(std::string_view token);

}  // namespace whystop

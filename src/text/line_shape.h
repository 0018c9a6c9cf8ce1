#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace whystop {

/// The shape of a line is its text with every digit as '0': the same print statement makes the same
/// shape, as long as its numbers are as long. Writes line.size() bytes to `out`, which has room for
/// kShapeSlackBytes more, and returns their hash.
inline constexpr std::size_t kShapeSlackBytes = 16;
std::uint64_t MakeShape(std::string_view line, char* out);

/// Is everything but the values of the numbers told by the shape? Not where a number may be too big
/// to be read, depending on its digits.
bool IsTameShape(std::string_view shape);

}  // namespace whystop

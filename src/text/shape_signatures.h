#pragma once

#include <string_view>

namespace whystop {

/// Might a signature stand in a line of this shape (line_shape.h), whatever its digits are? `shape`
/// is without the logger prefix.
bool ShapeMayHoldSignature(std::string_view shape);

}  // namespace whystop

#pragma once

#include <string_view>

namespace whystop {

inline constexpr std::string_view kVersion = "0.1.0";  // CMakeLists.txt reads it from here.

}  // namespace whystop

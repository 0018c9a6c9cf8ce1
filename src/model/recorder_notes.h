#pragma once

#include <string_view>

namespace whystop {

/// Told at the start of a recording whose middle was thinned (docs/format.md): from here on some points of
/// a series stand for more steps than others.
inline constexpr std::string_view kThinnedNote = "the middle of this long run is thinned";

}  // namespace whystop

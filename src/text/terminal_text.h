#pragma once

#include <string>
#include <string_view>

namespace whystop {

/// Appends `raw` to `out` without colour codes, cursor movements and other escape sequences; a
/// backspace removes nothing but itself, since progress bars print runs of them before a redraw of
/// the same length.
void CleanTerminalText(std::string_view raw, std::string& out);

}  // namespace whystop

#pragma once

#include <string>
#include <string_view>

namespace whystop {

/// The point of an exception's message, which may hold pages: its first lines, or the line that a framework hides behind
/// them; long lists are cut to their first names, and of what is still long the middle is left out, since the end often
/// says what is wrong.
std::string PointOfMessage(std::string_view message);

}  // namespace whystop

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace whystop {

/// PowerShell writes what a program said on standard error as records of its own, broken at the width of the console:
///   ValueError: Invalid
///   device
/// with the blank at which it broke a line kept at its end.
/// The width at which `text` was broken, in characters; 0: it was not.
std::size_t FindWrapWidth(std::string_view text);

/// Whether `line` of such a text goes on in `next`.
bool GoesOnInNextLine(std::string_view line, std::string_view next, std::size_t width);

}  // namespace whystop

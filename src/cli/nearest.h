#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// ", did you mean 'explain'?" when one of the known words is close to what was typed, else empty.
std::string DidYouMean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace whystop

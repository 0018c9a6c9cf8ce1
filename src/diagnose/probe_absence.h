#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// The option in a command line that keeps the probe out of the Python it starts ("-I", "-E" or
/// "-S"); empty where there is none. Looks behind wrappers such as `env` and `nice`.
std::string_view OptionAgainstProbe(const std::vector<std::string>& command);

}  // namespace whystop

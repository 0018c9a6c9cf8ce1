#pragma once

#include <string_view>

namespace whystop {

/// Gives this process another name, in `ps` and for `pkill` and `pkill -f`, so that who kills
/// "whystop" leaves it alone.
void RenameThisProcess(std::string_view name);

}  // namespace whystop

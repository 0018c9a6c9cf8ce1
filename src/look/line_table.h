#pragma once

#include <cstdint>
#include <string_view>

namespace whystop {

/// The source line of the instruction at byte `offset` of a code object. `table` is its co_lnotab
/// (3.9) or co_linetable, whose form differs between 3.9, 3.10 and what came after. 0: it has none.
std::int64_t LineAt(int minor, std::string_view table, std::int64_t first_line,
                    std::int64_t offset);

}  // namespace whystop

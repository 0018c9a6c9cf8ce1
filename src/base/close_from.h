#pragma once

namespace whystop {

/// Closes every descriptor from `first` on; also where close_range(2) is refused or not yet known.
void CloseFrom(int first);

}  // namespace whystop

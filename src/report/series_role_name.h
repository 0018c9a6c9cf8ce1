#pragma once

#include <string_view>

#include "model/event.h"

namespace whystop {

/// "train-loss", "learning-rate": as `inspect`, `export` and the page call a series' meaning.
std::string_view NameOf(SeriesRole role);

}  // namespace whystop

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace whystop {

/// A curve in one line of text: "▇▅▃▂▁▁"; "×" where a value was not finite. Empty: fewer than three
/// values.
std::string Sparkline(const std::vector<std::optional<double>>& values);

}  // namespace whystop

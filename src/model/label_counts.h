#pragma once

#include <optional>
#include <string_view>

namespace whystop {

/// Entropy of the labels that were counted as "3:120,7:80", in nats: the loss of a classifier that
/// knows how frequent its classes are and nothing else. nullopt: fewer than two classes.
std::optional<double> LabelEntropy(std::string_view counts);

}  // namespace whystop

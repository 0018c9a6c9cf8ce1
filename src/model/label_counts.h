#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace whystop {

/// "3:120,7:80", as the probe tells counts and weights, by label. What is no number is left out.
std::map<std::string, double> ByLabel(std::string_view text);

/// Entropy of the labels that were counted as "3:120,7:80", in nats: the loss of a classifier that
/// knows how frequent its classes are and nothing else. nullopt: fewer than two classes.
/// Weights of the classes 0, 1, ... ("0.5,2") make each label count as often as its weight says.
std::optional<double> LabelEntropy(std::string_view counts, std::string_view weights = {});

/// The same where only the most frequent of `classes` are listed: the rest of the `samples` is shared by the others.
std::optional<double> LabelEntropyOfMany(std::string_view counts, double classes, double samples);

}  // namespace whystop

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "try/trial.h"

namespace whystop {

/// A change that mends one fault of a program, if the program has it.
struct Mending {
  std::string_view spec;    // As the probe is told.
  std::string_view change;  // For people.
  /// Whether it would change anything that could matter, by what the untouched trial saw.
  bool (*applies)(const Trial& as_is);
  /// The cause that a cure speaks for; `suspects` decides between causes that one change mends.
  std::string_view (*cause)(const Trial& as_is, std::span<const std::string> suspects);
  /// All causes that it can speak for or against, separated by spaces.
  std::string_view causes;
  std::string_view fix;  // What to do when it was proven.
};

constexpr std::string_view kFloat32 = "float32";

/// In the order in which they are tried: the most telling first.
std::span<const Mending> AllMendings();
const Mending* FindMending(std::string_view spec);

/// "learning rate x 0.1", for any spec.
std::string ChangeInWords(std::string_view spec);
/// The value of `name` in a spec: "0.1" for lr-times in "one-batch=8 lr-times=0.1"; empty: absent.
std::string_view ValueIn(std::string_view spec, std::string_view name);
/// A trial at another rate, and nothing else.
bool IsRate(std::string_view spec);
/// Whether `list` holds this word; words are separated by spaces.
bool Lists(std::string_view list, std::string_view word);

}  // namespace whystop

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "model/event.h"

namespace whystop {

enum class ObservationType { kText, kNumber, kWhole, kYes };

struct ObservationAttribute {
  std::string_view name;
  ObservationType type{};
};

/// One kind of observation as src/model/observations.tsv has it.
struct ObservationKind {
  std::string_view name;
  std::span<const ObservationAttribute> attributes;
  bool open = false;  // Other names may come as well: they are the user's own.
};

std::span<const ObservationKind> AllObservationKinds();
const ObservationKind* FindObservationKind(std::string_view name);  // nullptr: no such kind.

/// What is wrong with the names and types of an observation; "": nothing.
std::string SchemaFault(const Observation& seen);

}  // namespace whystop

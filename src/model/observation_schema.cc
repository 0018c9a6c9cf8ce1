#include "model/observation_schema.h"

#include <algorithm>

namespace whystop {

const ObservationKind* FindObservationKind(std::string_view name) {
  const auto kinds = AllObservationKinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [name](const ObservationKind& kind) { return kind.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

std::string SchemaFault(const Observation& seen) {
  const ObservationKind* kind = FindObservationKind(seen.kind);
  if (kind == nullptr) {
    return "no observation is called '" + seen.kind + "'";
  }
  for (const auto& [name, value] : seen.attributes) {
    const auto known = std::find_if(
        kind->attributes.begin(), kind->attributes.end(),
        [&name = name](const ObservationAttribute& attribute) { return attribute.name == name; });
    if (known == kind->attributes.end()) {
      if (!kind->open) {
        return "'" + seen.kind + "' has no attribute '" + name + "'";
      }
      continue;
    }
    const bool text = std::holds_alternative<std::string>(value);
    if (!text && known->type == ObservationType::kText) {
      return "'" + name + "' of '" + seen.kind + "' is a text";
    }
    if (text && known->type != ObservationType::kText) {
      return "'" + name + "' of '" + seen.kind + "' is a number";
    }
  }
  return "";
}

}  // namespace whystop

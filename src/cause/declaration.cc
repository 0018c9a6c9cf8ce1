#include "cause/declaration.h"

#include <algorithm>

namespace whystop {

const Declaration* FindDeclaration(std::string_view id) {
  const auto all = AllDeclarations();
  const auto found = std::lower_bound(
      all.begin(), all.end(), id,
      [](const Declaration& one, std::string_view wanted) { return one.id < wanted; });
  return found != all.end() && found->id == id ? &*found : nullptr;
}

}  // namespace whystop

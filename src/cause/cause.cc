#include "cause/cause.h"

#include <algorithm>

namespace whystop {

bool Hypothesis::Has(Evidence::Weight weight) const {
  return std::any_of(evidence_.begin(), evidence_.end(),
                     [weight](const Evidence& evidence) { return evidence.weight == weight; });
}

const CausePage* FindPage(std::string_view id) {
  const auto pages = AllPages();
  const auto found = std::lower_bound(
      pages.begin(), pages.end(), id,
      [](const CausePage& page, std::string_view wanted) { return page.id < wanted; });
  return found != pages.end() && found->id == id ? &*found : nullptr;
}

}  // namespace whystop

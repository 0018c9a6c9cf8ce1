#include "cause/cause.h"

#include <algorithm>

namespace whystop {

namespace {

/// Either is the other, perhaps cut.
bool IsBeginningOf(std::string_view one, std::string_view other) {
  return !one.empty() && !other.empty() && (one.starts_with(other) || other.starts_with(one));
}

}  // namespace

void Hypothesis::Add(Evidence evidence) {
  const auto same = std::find_if(evidence_.begin(), evidence_.end(), [&evidence](const Evidence& one) {
    return one.weight == evidence.weight && IsBeginningOf(one.text, evidence.text);
  });
  if (same == evidence_.end()) {
    evidence_.push_back(std::move(evidence));
    return;
  }
  if (same->place.file.empty()) {
    same->place = std::move(evidence.place);
  }
  if (evidence.text.size() > same->text.size()) {
    same->text = std::move(evidence.text);
  }
}

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

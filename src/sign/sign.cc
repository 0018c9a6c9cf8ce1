#include "sign/sign.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace whystop {
namespace {

const SignEntry* FindSign(std::string_view id) {
  const auto all = AllSigns();
  const auto found = std::lower_bound(
      all.begin(), all.end(), id,
      [](const SignEntry& entry, std::string_view wanted) { return entry.id < wanted; });
  return found != all.end() && found->id == id ? &*found : nullptr;
}

}  // namespace

Sign YesSign(std::string kind, std::string text, std::vector<Fact> facts, double strength) {
  return {.answer = Seen::kYes,
          .strength = strength,
          .kind = std::move(kind),
          .text = std::move(text),
          .facts = std::move(facts)};
}

Sign NoSign(std::string text) { return {.answer = Seen::kNo, .text = std::move(text)}; }

Sign NotSeenSign() { return {}; }

Sign ByFinding(const Finding* finding, std::string kind, std::string text) {
  if (finding == nullptr) {
    return NoSign();
  }
  Sign sign = YesSign(std::move(kind), std::move(text), finding->facts, finding->strength);
  sign.series = finding->series;
  sign.step_from = finding->step_from;
  sign.step_to = finding->step_to;
  return sign;
}

Sign AnswerSign(bool yes, std::string kind, std::string text) {
  return yes ? YesSign(std::move(kind), std::move(text)) : NoSign();
}

SignTable::SignTable(const Training& training) {
  signs_.reserve(AllSigns().size());
  for (const SignEntry& entry : AllSigns()) {
    signs_.push_back(entry.look(training));
  }
}

const Sign& SignTable::At(std::string_view id) const {
  const SignEntry* entry = FindSign(id);
  WS_CHECK(entry != nullptr, "a declaration names a sign that does not exist");
  return signs_[static_cast<std::size_t>(entry - AllSigns().data())];
}

bool SignTable::Has(std::string_view id) { return FindSign(id) != nullptr; }

}  // namespace whystop

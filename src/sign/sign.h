#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/finding.h"

namespace whystop {

struct Training;

enum class Seen { kNo, kYes, kNotSeen };

/// The answer to one question about one training, with its figures. It knows no cause.
struct Sign {
  Seen answer = Seen::kNotSeen;
  double strength = 0;      // 1 is at the line; how many times beyond it.
  std::string kind = {};    // Where it was seen, as in Evidence: "series", "tensor", "loss-call".
  std::string text = {};    // One sentence with its numbers; of a "no" what stands against it.
  std::string series = {};  // That it is about, in the user's own name.
  std::optional<std::int64_t> step_from = {};
  std::optional<std::int64_t> step_to = {};
  std::vector<Fact> facts = {};

  bool Yes() const { return answer == Seen::kYes; }
  bool No() const { return answer == Seen::kNo; }
};

Sign YesSign(std::string kind, std::string text, std::vector<Fact> facts = {}, double strength = 1);
/// With what a reader should know about it: "the outputs differ from sample to sample by 0.4".
Sign NoSign(std::string text = "");
Sign NotSeenSign();
/// Yes or no by a finding, which gives its steps, facts and strength; without one it is a "no".
Sign ByFinding(const Finding* finding, std::string kind, std::string text);
/// A plain yes or no.
Sign AnswerSign(bool yes, std::string kind, std::string text);

struct SignEntry {
  std::string_view id;
  std::string_view question;
  Sign (*look)(const Training& training);
};

/// Every sign, sorted by id.
std::span<const SignEntry> AllSigns();

/// The answers to all questions about one training, each computed once.
class SignTable {
 public:
  explicit SignTable(const Training& training);
  /// Of a sign that is not in the registry: a broken invariant (checked by the tests of the
  /// declarations).
  const Sign& At(std::string_view id) const;
  bool Yes(std::string_view id) const { return At(id).Yes(); }
  static bool Has(std::string_view id);

 private:
  std::vector<Sign> signs_;  // In the order of the registry.
};

}  // namespace whystop

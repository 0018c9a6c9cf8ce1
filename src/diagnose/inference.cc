#include "diagnose/inference.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "diagnose/likelihood.h"

namespace whystop {
namespace {

/// Signs of harm: without one, only what is seen itself blames a run.
constexpr std::string_view kHarm[] = {
    "training-failed",    "not-seen-to-learn", "learned-little", "near-guessing",
    "held-out-far-above", "held-out-turned",   "nan-seen",       "loss-swings"};

constexpr std::string_view kComplaint[] = {"training-failed", "not-seen-to-learn", "learned-little",
                                           "near-guessing",   "loss-stuck",        "loss-stalled"};

std::string_view TakeWord(std::string_view& rest, char separator) {
  const std::size_t size = std::min(rest.find(separator), rest.size());
  const std::string_view word = rest.substr(0, size);
  rest.remove_prefix(std::min(rest.size(), size + 1));
  return word;
}

bool IsSo(const SignTable& signs, std::string_view sign) {
  return sign.starts_with('!') ? signs.At(sign.substr(1)).No() : signs.Yes(sign);
}

/// The first of "a|b" that is so; "": none.
std::string_view FirstOf(const SignTable& signs, std::string_view alternatives) {
  while (!alternatives.empty()) {
    const std::string_view one = TakeWord(alternatives, '|');
    if (IsSo(signs, one)) {
      return one;
    }
  }
  return {};
}

bool Counts(const SignTable& signs, std::string_view only_if, std::string_view unless) {
  while (!only_if.empty()) {
    if (FirstOf(signs, TakeWord(only_if, ' ')).empty()) {
      return false;
    }
  }
  while (!unless.empty()) {
    if (!FirstOf(signs, TakeWord(unless, ' ')).empty()) {
      return false;
    }
  }
  return true;
}

Evidence ToEvidence(const Sign& sign, Evidence::Weight weight) {
  return {.weight = weight,
          .kind = sign.kind,
          .text = sign.text,
          .series = sign.series,
          .step_from = sign.step_from,
          .step_to = sign.step_to,
          .values = sign.facts};
}

/// "lr {updates-large.rate}" with the figure of that sign; nullopt: one of them is not known.
std::optional<std::string> Filled(const SignTable& signs, std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size());
    out += text.substr(0, open);
    text.remove_prefix(open);
    if (text.empty()) {
      break;
    }
    std::string_view name = text.substr(1, text.find('}') - 1);
    text.remove_prefix(name.size() + 2);
    const Sign& sign = signs.At(TakeWord(name, '.'));
    const auto fact = std::find_if(sign.facts.begin(), sign.facts.end(),
                                   [name](const Fact& one) { return one.name == name; });
    if (!sign.Yes() || fact == sign.facts.end()) {
      return std::nullopt;
    }
    out += fact->text;
  }
  return out;
}

bool Speaks(Clause::Verb verb) {
  return verb == Clause::Verb::kExact || verb == Clause::Verb::kStrong ||
         verb == Clause::Verb::kExplains;
}

/// What speaks for the cause: each sign once, with the strongest line that counts.
void WeighFor(const SignTable& signs, Considered& out) {
  for (const Clause& clause : out.declared->clauses) {
    if (!Speaks(clause.verb) || !Counts(signs, clause.only_if, clause.unless)) {
      continue;
    }
    const std::string_view sign = FirstOf(signs, clause.sign);
    const std::string_view named = sign.empty() ? clause.sign : sign;
    const auto before =
        std::find_if(out.clauses.begin(), out.clauses.end(),
                     [named](const WeighedClause& one) { return one.sign == named; });
    const WeighedClause weighed = {named, clause.verb,
                                   sign.empty() ? Seen::kNo : Seen::kYes,
                                   sign.empty() ? 0 : WeightOf(clause.verb)};
    if (before == out.clauses.end()) {
      out.clauses.push_back(weighed);
    } else if (weighed.weight > before->weight) {
      *before = weighed;
    }
  }
  for (const WeighedClause& clause : out.clauses) {
    if (clause.answer != Seen::kYes) {
      continue;
    }
    const bool exact = clause.verb == Clause::Verb::kExact;
    out.log_odds += clause.weight;
    out.exact = out.exact || exact;
    out.hypothesis.Add(ToEvidence(signs.At(clause.sign), exact ? Evidence::Weight::kDecisive
                                                               : Evidence::Weight::kSupporting));
  }
}

std::string QuestionOf(std::string_view id) {
  for (const SignEntry& entry : AllSigns()) {
    if (entry.id == id) {
      return std::string(entry.question);
    }
  }
  return std::string(id);
}

/// All of "a|b" were looked at.
bool AllSeen(const SignTable& signs, std::string_view alternatives) {
  while (!alternatives.empty()) {
    std::string_view one = TakeWord(alternatives, '|');
    one.remove_prefix(one.starts_with('!') ? 1 : 0);
    if (signs.At(one).answer == Seen::kNotSeen) {
      return false;
    }
  }
  return true;
}

/// Why a required sign that is not there rules the cause out, in words.
std::string Lacking(const SignTable& signs, std::string_view alternatives) {
  const std::string_view first = TakeWord(alternatives, '|');
  const Sign& sign = signs.At(first);
  return sign.text.empty() ? QuestionOf(first) + (sign.No() ? " No" : " Not seen") : sign.text;
}

void WeighAgainst(const SignTable& signs, Considered& out) {
  for (const Clause& clause : out.declared->clauses) {
    if (Speaks(clause.verb) || !Counts(signs, clause.only_if, clause.unless)) {
      continue;
    }
    const std::string_view found = FirstOf(signs, clause.sign);
    const bool rules_out = (clause.verb == Clause::Verb::kExcludes) == !found.empty();
    if (!rules_out) {
      continue;
    }
    const std::string_view bare = found.starts_with('!') ? found.substr(1) : found;
    const std::string why = clause.verb == Clause::Verb::kRequires
                                ? Lacking(signs, clause.sign)
                                : signs.At(bare).text.empty() ? QuestionOf(bare) + " Yes"
                                                              : signs.At(bare).text;
    out.clauses.push_back({clause.sign, clause.verb, found.empty() ? Seen::kNo : Seen::kYes, 0});
    const bool contradicts = !found.empty() || AllSeen(signs, clause.sign);
    out.ruled_out = out.ruled_out.empty() || (contradicts && !out.contradicted) ? why : out.ruled_out;
    out.contradicted = out.contradicted || contradicts;
    out.hypothesis.Add({.weight = Evidence::Weight::kContradicting, .kind = "sign", .text = why});
  }
}

void AddTexts(const SignTable& signs, Considered& out) {
  for (const TextClause& fix : out.declared->fixes) {
    const auto text = Counts(signs, fix.only_if, fix.unless) ? Filled(signs, fix.text)
                                                             : std::optional<std::string>();
    if (text) {
      out.hypothesis.Fix(*text);
    }
  }
  for (const TextClause& ask : out.declared->asks) {
    if (Counts(signs, ask.only_if, ask.unless)) {
      out.hypothesis.Add({.weight = Evidence::Weight::kMissing,
                          .kind = std::string(ask.kind),
                          .text = std::string(ask.text)});
    }
  }
}

bool Harmed(const SignTable& signs) {
  return std::any_of(std::begin(kHarm), std::end(kHarm),
                     [&signs](std::string_view sign) { return signs.Yes(sign); });
}

}  // namespace

std::vector<Considered> InferLearning(const SignTable& signs) {
  std::vector<Considered> out;
  const bool harmed = Harmed(signs);
  for (const Declaration& declared : AllDeclarations()) {
    Considered one;
    one.declared = &declared;
    one.log_odds = PriorOf(declared);
    WeighFor(signs, one);
    if (one.hypothesis.evidence().empty()) {
      continue;
    }
    WeighAgainst(signs, one);
    const bool seen_itself =
        std::any_of(one.clauses.begin(), one.clauses.end(), [](const WeighedClause& clause) {
          return clause.verb != Clause::Verb::kExplains && clause.weight > 0;
        });
    if (one.ruled_out.empty() && !harmed && !seen_itself) {
      one.ruled_out = "the run shows no harm";
    }
    AddTexts(signs, one);
    out.push_back(std::move(one));
  }
  return out;
}

bool IsComplaint(std::string_view sign) {
  return std::find(std::begin(kComplaint), std::end(kComplaint), sign) != std::end(kComplaint);
}

Confidence ConfidenceAt(double log_odds) {
  const double share = 1 / (1 + std::exp(-log_odds));
  return share >= 0.97  ? Confidence::kCertain
         : share >= 0.8 ? Confidence::kLikely
                        : Confidence::kPossible;
}

}  // namespace whystop

#include "diagnose/ranking.h"

#include <fmt/format.h>

#include <algorithm>

namespace whystop {
namespace {

std::string_view Word(Seen answer) {
  return answer == Seen::kYes ? "yes" : answer == Seen::kNo ? "no" : "not-seen";
}

std::string_view Word(Clause::Verb verb) {
  switch (verb) {
    case Clause::Verb::kExact:
      return "exact";
    case Clause::Verb::kStrong:
      return "strong";
    case Clause::Verb::kExplains:
      return "explains";
    case Clause::Verb::kRequires:
      return "requires";
    case Clause::Verb::kExcludes:
      return "excludes";
  }
  return "";
}

}  // namespace

std::vector<AnsweredSign> ListSigns(const SignTable& signs) {
  std::vector<AnsweredSign> out;
  for (const SignEntry& entry : AllSigns()) {
    out.push_back({entry.id, entry.question, signs.At(entry.id)});
  }
  return out;
}

std::string RenderRanking(const Ranking& ranking) {
  std::vector<const Considered*> order;
  for (const Considered& one : ranking.considered) {
    order.push_back(&one);
  }
  std::sort(order.begin(), order.end(), [](const Considered* a, const Considered* b) {
    return std::pair(!a->ruled_out.empty(), -a->log_odds) <
           std::pair(!b->ruled_out.empty(), -b->log_odds);
  });
  std::string out = order.empty() ? "no cause of bad learning was considered\n" : "";
  for (const Considered* one : order) {
    out += one->ruled_out.empty()
               ? fmt::format("{:<26}log odds {:+.1f}\n", one->declared->id, one->log_odds)
               : fmt::format("{:<26}ruled out: {}\n", one->declared->id, one->ruled_out);
    for (const WeighedClause& clause : one->clauses) {
      out += fmt::format("  {:<10}{:<34}{:<10}{}\n", Word(clause.verb), clause.sign,
                         Word(clause.answer),
                         clause.weight == 0 ? std::string() : fmt::format("{:+.1f}", clause.weight));
    }
  }
  out += "\nsigns that are there\n";
  for (const AnsweredSign& one : ranking.signs) {
    if (one.sign.Yes()) {
      out += fmt::format("  {:<34}{}\n", one.id, one.sign.text);
    }
  }
  return out;
}

std::string RenderSigns(const Ranking& ranking) {
  std::string out;
  for (const AnsweredSign& one : ranking.signs) {
    out += fmt::format("{{\"sign\":\"{}\",\"answer\":\"{}\",\"strength\":{:.4g}}}\n", one.id,
                       Word(one.sign.answer), one.sign.strength);
  }
  return out;
}

}  // namespace whystop

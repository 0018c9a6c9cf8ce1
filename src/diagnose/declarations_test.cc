#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "cause/cause.h"
#include "cause/declaration.h"
#include "sign/sign.h"

namespace whystop {
namespace {

/// "a|b !c" are a, b and c.
std::vector<std::string> SignsIn(std::string_view text) {
  std::vector<std::string> signs(1);
  for (const char letter : text) {
    if (letter == ' ' || letter == '|') {
      signs.emplace_back();
    } else if (letter != '!') {
      signs.back() += letter;
    }
  }
  signs.erase(std::remove(signs.begin(), signs.end(), ""), signs.end());
  return signs;
}

void ExpectSigns(std::string_view text, std::string_view cause) {
  for (const std::string& sign : SignsIn(text)) {
    EXPECT_TRUE(SignTable::Has(sign)) << cause << " names '" << sign << "', which is no sign";
  }
}

void ExpectTexts(std::span<const TextClause> texts, std::string_view cause) {
  for (const TextClause& clause : texts) {
    ExpectSigns(clause.only_if, cause);
    ExpectSigns(clause.unless, cause);
    std::string_view rest = clause.text;
    while (rest.find('{') != std::string_view::npos) {
      rest.remove_prefix(rest.find('{') + 1);
      ExpectSigns(rest.substr(0, rest.find('.')), cause);
    }
  }
}

/// Goal: a declaration cannot name what is not there, so that a verdict cannot break on it.
TEST(Declarations, NameOnlySignsAndCausesThatExist) {
  for (const Declaration& declared : AllDeclarations()) {
    for (const Clause& clause : declared.clauses) {
      ExpectSigns(clause.sign, declared.id);
      ExpectSigns(clause.only_if, declared.id);
      ExpectSigns(clause.unless, declared.id);
    }
    ExpectTexts(declared.fixes, declared.id);
    ExpectTexts(declared.asks, declared.id);
    for (const std::string& consequence : SignsIn(declared.leads_to)) {
      EXPECT_NE(FindCause(consequence), nullptr) << declared.id << " leads to " << consequence;
    }
  }
}

/// A cause that nothing can speak for can never be named.
TEST(Declarations, CanBeNamed) {
  for (const Declaration& declared : AllDeclarations()) {
    EXPECT_TRUE(std::any_of(declared.clauses.begin(), declared.clauses.end(),
                            [](const Clause& clause) {
                              return clause.verb != Clause::Verb::kRequires &&
                                     clause.verb != Clause::Verb::kExcludes;
                            }))
        << declared.id;
  }
}

TEST(Signs, AreSortedAndAskAQuestion) {
  const auto all = AllSigns();
  EXPECT_TRUE(std::is_sorted(all.begin(), all.end(), [](const SignEntry& a, const SignEntry& b) {
    return a.id < b.id;
  }));
  for (const SignEntry& entry : all) {
    EXPECT_TRUE(entry.question.ends_with('?')) << entry.id;
  }
}

/// A sign that no cause reads is a measurement for nothing.
TEST(Signs, AreEachReadByACause) {
  std::string read;
  for (const Declaration& declared : AllDeclarations()) {
    for (const Clause& clause : declared.clauses) {
      read += " " + std::string(clause.sign) + " " + std::string(clause.only_if) + " " +
              std::string(clause.unless);
    }
    for (const TextClause& clause : declared.fixes) {
      read += " " + std::string(clause.only_if) + " " + std::string(clause.unless);
    }
    for (const TextClause& clause : declared.asks) {
      read += " " + std::string(clause.only_if) + " " + std::string(clause.unless);
    }
  }
  const std::vector<std::string> names = SignsIn(read);
  for (const SignEntry& entry : AllSigns()) {
    EXPECT_NE(std::find(names.begin(), names.end(), entry.id), names.end()) << entry.id;
  }
}

}  // namespace
}  // namespace whystop

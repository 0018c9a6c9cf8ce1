#include "text/signature.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <memory>
#include <set>

#include "text/prefix.h"
#include "text/signature_matcher.h"

namespace whystop {

extern const std::string_view kSignatureTable;

namespace {

/// A row of the table, tried the slow and obvious way.
class PlainRow {
 public:
  explicit PlainRow(const Signature& row)
      : row_(row),
        regex_(re2::StringPiece(row.pattern.data(), row.pattern.size()), re2::RE2::Quiet) {}
  bool Matches(std::string_view line) const {
    switch (row_.kind) {
      case Signature::Kind::kLiteral:
        return line.find(row_.pattern) != std::string_view::npos;
      case Signature::Kind::kWholeLine:
        return line == row_.pattern;
      case Signature::Kind::kRegex:
        break;
    }
    return regex_.ok() &&
           re2::RE2::PartialMatch(re2::StringPiece(line.data(), line.size()), regex_);
  }
  const Signature& row() const { return row_; }

 private:
  const Signature& row_;
  re2::RE2 regex_;
};

std::vector<std::unique_ptr<PlainRow>> PlainRows() {
  std::vector<std::unique_ptr<PlainRow>> rows;
  for (const Signature& row : AllSignatures()) {
    rows.push_back(std::make_unique<PlainRow>(row));
  }
  return rows;
}

TEST(Signatures, EveryRowIsReadable) {
  std::vector<std::string> faults;
  EXPECT_GT(ParseSignatures(kSignatureTable, faults).size(), 400U);
  EXPECT_TRUE(faults.empty()) << faults.front();
}

TEST(Signatures, EveryPatternMatchesItsExample) {
  for (const auto& plain : PlainRows()) {
    const std::string_view example = plain->row().example;
    EXPECT_TRUE(plain->Matches(PeelPrefix(example).body)) << plain->row().pattern;
  }
}

/// The filter looks at every fourth position only, which is sound from seven bytes on.
TEST(Signatures, EverySignatureHasATextOfSevenBytes) {
  for (const Signature& row : AllSignatures()) {
    if (row.kind != Signature::Kind::kWholeLine) {
      EXPECT_GE(RequiredLiteral(row).size(), 7U) << row.pattern;
    }
  }
}

/// Goal: the filter is only a short cut. Method: every example at every alignment, against every
/// pattern by RE2.
TEST(Signatures, FilterFindsWhatPlainMatchingFinds) {
  const SignatureMatcher& matcher = SignatureMatcher::Shared();
  const auto rows = PlainRows();
  for (const Signature& example : AllSignatures()) {
    for (const std::string_view lead : {"", "x", "xy", "xyz"}) {
      const std::string line = std::string(lead) + std::string(example.example);
      std::set<std::string_view> fast;
      std::set<std::string_view> plain;
      for (const SignatureMatcher::Match& match : matcher.MatchLine(line)) {
        fast.insert(match.signature->pattern);
      }
      for (const auto& row : rows) {
        if (row->Matches(line)) {
          plain.insert(row->row().pattern);
        }
      }
      EXPECT_EQ(fast, plain) << line;
    }
  }
}

}  // namespace
}  // namespace whystop

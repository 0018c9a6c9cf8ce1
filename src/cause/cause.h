#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cause/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// What speaks for and against one cause. A cause that adds nothing is not under suspicion.
class Hypothesis {
 public:
  void Add(Evidence evidence) { evidence_.push_back(std::move(evidence)); }
  /// A remedy made for this very case ("lr 0.5: try 0.005"); goes before those of the page.
  void Fix(std::string text) { fixes_.push_back(std::move(text)); }

  const std::vector<Evidence>& evidence() const { return evidence_; }
  const std::vector<std::string>& fixes() const { return fixes_; }
  bool Has(Evidence::Weight weight) const;

 private:
  std::vector<Evidence> evidence_;
  std::vector<std::string> fixes_;
};

/// A cause that is known by more than its log lines. Causes without code are known by their rows in the signature
/// table alone and need only a page.
struct CauseEntry {
  std::string_view id;
  Answers answers = Answers::kStop;
  Outcome outcome = Outcome::kUnknown;  // What the run's outcome is when this is the root; kUnknown: says nothing.
  bool fault = true;
  std::span<const std::string_view> leads_to;  // Causes that this one brings about.
  void (*weigh)(const CaseFile& run, Hypothesis& out);
};

/// Every cause that has code, sorted by id.
std::span<const CauseEntry> AllCauses();

/// The page of a cause: src/cause/<id>/<id>.md, embedded at build time.
struct CausePage {
  std::string_view id;
  std::string_view title;                    // The page's first heading after the id.
  std::string_view text;                     // The whole page.
  std::span<const std::string_view> fixes;   // The list under "What to do".
};

/// Every page, sorted by id. nullptr: no such cause.
std::span<const CausePage> AllPages();
const CausePage* FindPage(std::string_view id);

}  // namespace whystop

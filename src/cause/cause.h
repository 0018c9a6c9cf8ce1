#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/case_file.h"
#include "model/verdict.h"

namespace whystop {

/// What speaks for and against one cause. A cause that adds nothing is not under suspicion.
class Hypothesis {
 public:
  /// What two witnesses tell in the same words is told once, with the place that either knows.
  void Add(Evidence evidence);
  /// A remedy made for this very case ("lr 0.5: try 0.005"); goes before those of the page.
  void Fix(std::string text) { fixes_.push_back(std::move(text)); }
  /// These are all that there is to do: the page's would not fit.
  void NothingElseToDo() { fixes_are_all_ = true; }
  /// What was seen is itself where it began: nothing else brought it about.
  void BeginsHere() { begins_here_ = true; }

  const std::vector<Evidence>& evidence() const { return evidence_; }
  const std::vector<std::string>& fixes() const { return fixes_; }
  bool fixes_are_all() const { return fixes_are_all_; }
  bool begins_here() const { return begins_here_; }
  bool Has(Evidence::Weight weight) const;

 private:
  std::vector<Evidence> evidence_;
  std::vector<std::string> fixes_;
  bool begins_here_ = false;
  bool fixes_are_all_ = false;
};

/// Weighs one run. Adds nothing when there is no reason to suspect this cause.
using Weigher = void (*)(const CaseFile& run, Hypothesis& out);

struct CauseEntry {
  std::string_view id;
  Answers answers = Answers::kStop;
  Outcome outcome =
      Outcome::kUnknown;  // Of the run when this is the root; kUnknown: it says nothing about that.
  bool fault = true;      // False: named in the verdict, but nothing to mend.
  std::string_view
      leads_to;             // Ids of the causes that this one can bring about, separated by spaces.
  Weigher weigh = nullptr;  // Null: known by its rows in the signature table alone.
};

/// Every cause, sorted by id.
std::span<const CauseEntry> AllCauses();
const CauseEntry* FindCause(std::string_view id);  // nullptr: no such cause.
bool CanLeadTo(const CauseEntry& cause, std::string_view consequence);

/// The page of a cause: src/cause/<id>/<id>.md, embedded at build time.
struct CausePage {
  std::string_view id;
  std::string_view title;                   // The page's first heading after the id.
  std::string_view text;                    // The whole page.
  std::span<const std::string_view> fixes;  // The list under "What to do".
  std::span<const std::string_view> native_fixes;  // Under "What to do in C and C++", where those of Python mean nothing.
};

/// Every page, sorted by id. nullptr: no such cause.
std::span<const CausePage> AllPages();
const CausePage* FindPage(std::string_view id);

}  // namespace whystop

#include "try/add_to_verdict.h"

#include <algorithm>

#include "cause/cause.h"
#include "try/read_trial.h"

namespace whystop {
namespace {

VerdictCause TakeOrMake(Verdict& verdict, const std::string& id) {
  const auto found = std::find_if(verdict.causes.begin(), verdict.causes.end(),
                                  [&id](const VerdictCause& cause) { return cause.id == id; });
  if (found != verdict.causes.end()) {
    VerdictCause cause = std::move(*found);
    verdict.causes.erase(found);
    return cause;
  }
  VerdictCause cause;
  cause.id = id;
  if (const CauseEntry* entry = FindCause(id)) {
    cause.answers = entry->answers;
    cause.fault = entry->fault;
  }
  if (const CausePage* page = FindPage(id)) {
    cause.title = page->title;
    cause.fixes.assign(page->fixes.begin(), page->fixes.end());
  }
  return cause;
}

/// What remains of the other explanations of the same question once one is proven: its
/// consequences. A guess that it does not bring about has been overtaken.
void SettleOthers(const VerdictCause& proven, const std::string& or_else, Verdict& verdict) {
  const CauseEntry* entry = FindCause(proven.id);
  std::erase_if(verdict.causes, [&](VerdictCause& other) {
    if (!other.fault) {
      return false;
    }
    if (other.id == or_else) {
      other.role = CauseRole::kContributing;
      return false;
    }
    if (entry != nullptr && CanLeadTo(*entry, other.id)) {
      other.role = CauseRole::kConsequence;
      return false;
    }
    if (other.answers != proven.answers || other.role == CauseRole::kConsequence) {
      return false;
    }
    if (other.confidence == Confidence::kCertain) {
      other.role = CauseRole::kContributing;  // Exact evidence stays: it may be a second fault.
      return false;
    }
    verdict.ruled_out.push_back({other.id, "the experiment explains the run without it"});
    return true;
  });
}

}  // namespace

void AddToVerdict(const Conclusions& found, Verdict& verdict) {
  verdict.trials = found.trials;
  for (const Disproof& disproof : found.refuted) {
    const auto before = verdict.causes.size();
    std::erase_if(verdict.causes, [&disproof](const VerdictCause& cause) {
      return cause.id == disproof.cause && cause.confidence != Confidence::kCertain;
    });
    if (verdict.causes.size() < before) {
      verdict.ruled_out.push_back({disproof.cause, disproof.text});
    }
  }
  if (!found.proof) {
    return;
  }
  VerdictCause cause = TakeOrMake(verdict, found.proof->cause);
  cause.role = CauseRole::kRoot;
  cause.confidence = found.proof->or_else.empty() ? Confidence::kCertain : Confidence::kLikely;
  Evidence evidence;
  evidence.weight = Evidence::Weight::kDecisive;
  evidence.kind = "trial";
  evidence.text = found.proof->text;
  cause.evidence.insert(cause.evidence.begin(), evidence);
  cause.fixes.insert(cause.fixes.begin(), found.proof->fix);
  SettleOthers(cause, found.proof->or_else, verdict);
  verdict.causes.insert(verdict.causes.begin(), std::move(cause));
}

bool AddTrialsOf(const std::string& run_directory, Verdict& verdict) {
  const std::vector<Trial> trials = ReadTrials(run_directory);
  if (trials.empty()) {
    return false;
  }
  AddToVerdict(Conclude(CaseOf(verdict), trials), verdict);
  return true;
}

}  // namespace whystop

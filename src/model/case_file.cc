#include "model/case_file.h"

namespace whystop {

const Finding* CaseFile::FindFirst(std::string_view detector) const {
  for (const Finding& finding : findings) {
    if (finding.detector == detector) {
      return &finding;
    }
  }
  return nullptr;
}

const ReadingHistory* CaseFile::Find(Subject::Kind kind, Quantity quantity) const {
  for (const ReadingHistory& history : readings) {
    if (history.quantity == quantity && history.subject.kind == kind) {
      return &history;
    }
  }
  return nullptr;
}

std::vector<const ReadingHistory*> CaseFile::FindAll(Quantity quantity) const {
  std::vector<const ReadingHistory*> found;
  for (const ReadingHistory& history : readings) {
    if (history.quantity == quantity) {
      found.push_back(&history);
    }
  }
  return found;
}

const LogFact* CaseFile::FindLog(std::string_view cause, LogFact::Role role) const {
  for (const LogFact& fact : log_facts) {
    if (fact.cause == cause && fact.role == role) {
      return &fact;
    }
  }
  return nullptr;
}

const Observation* CaseFile::FindObservation(std::string_view kind) const {
  const Observation* last = nullptr;
  for (const Observation& observation : observations) {
    if (observation.kind == kind) {
      last = &observation;
    }
  }
  return last;
}

int CaseFile::Signal() const { return end && end->end ? end->end->signal() : 0; }

std::optional<int> CaseFile::ExitCode() const {
  if (!end || !end->end || end->end->kind() != ChildEnd::Kind::kExited) {
    return std::nullopt;
  }
  return end->end->exit_code();
}

}  // namespace whystop

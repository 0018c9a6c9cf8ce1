#include "sense/subject_table.h"

namespace whystop {

SubjectId SubjectTable::Find(const Subject& subject, RunTime now, std::vector<Event>& out) {
  for (const auto& [known, id] : known_) {
    if (known == subject) {
      return id;
    }
  }
  const SubjectId id = Add(subject, now, out);
  known_.emplace_back(subject, id);
  return id;
}

SubjectId SubjectTable::Add(Subject subject, RunTime now, std::vector<Event>& out) {
  const SubjectId id = next_++;
  out.push_back({now, SubjectSeen{id, std::move(subject)}});
  return id;
}

}  // namespace whystop

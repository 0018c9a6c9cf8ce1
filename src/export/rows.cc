#include "export/rows.h"

#include <fmt/format.h>

#include "report/series_role_name.h"

namespace whystop {

std::string SubjectPath(const Subject& subject) {
  switch (subject.kind) {
    case Subject::Kind::kHost:
      return "host";
    case Subject::Kind::kTree:
      return "job";
    case Subject::Kind::kProcess:
      return fmt::format("process {} {}", subject.number, subject.name);
    case Subject::Kind::kCgroup:
      return "cgroup " + subject.name;
    case Subject::Kind::kMount:
      return "mount " + subject.name;
    case Subject::Kind::kGpu:
      return fmt::format("gpu {}", subject.number);
    case Subject::Kind::kRecorder:
      break;
  }
  return "whystop";
}

void RowMaker::Push(const Event& event) {
  if (const auto* scalar = event.As<Scalar>()) {
    out_({event.at, scalar->series, NameOf(scalar->role), scalar->step, steps_.Of(*scalar), scalar->epoch, scalar->rank,
          scalar->place.file.empty() ? "probe" : scalar->place.file, scalar->value});
  } else if (const auto* seen = event.As<SubjectSeen>()) {
    subjects_[seen->id] = SubjectPath(seen->subject);
  } else if (const auto* sample = event.As<Sample>(); sample != nullptr && resources_) {
    for (const Reading& reading : sample->readings) {
      if (const QuantityInfo* info = FindQuantity(reading.quantity)) {
        out_({event.at, fmt::format("{}/{}", subjects_[reading.subject], info->name), "machine",
              std::nullopt, std::nullopt, std::nullopt, std::nullopt, "machine",
              static_cast<double>(reading.value)});
      }
    }
  }
}

}  // namespace whystop

#include "diagnose/trainings.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "detect/detectors.h"

namespace whystop {
namespace {

constexpr std::size_t kFindingsMax = 4096;
constexpr std::size_t kPartsMax = 16;  // Of a longer sweep the first ones and the last.
constexpr std::size_t kSharedMax = 96;

/// Whose event it is: the process that said it and its training; nullopt: nobody's.
struct Source {
  std::int64_t process = 0;
  int training = 1;
  std::optional<int> rank;
};

template <typename Body>
std::optional<Source> SourceOf(const Body* body) {
  return body != nullptr && body->process
             ? std::optional(Source{*body->process, body->training.value_or(1), body->rank})
             : std::nullopt;
}

std::optional<Source> SourceOf(const Event& event) {
  if (auto source = SourceOf(event.As<Scalar>())) {
    return source;
  }
  if (auto source = SourceOf(event.As<TensorStats>())) {
    return source;
  }
  if (auto source = SourceOf(event.As<Observation>())) {
    return source;
  }
  return SourceOf(event.As<Progress>());
}

/// Said once in a process, and true of all that it trains: what it runs on and the data.
bool HoldsForAll(const Observation& seen) {
  constexpr std::string_view kKinds[] = {"python", "loader", "batch", "labels"};
  return std::find(std::begin(kKinds), std::end(kKinds), seen.kind) != std::end(kKinds);
}

bool IsLoss(const Event& event) {
  const auto* scalar = event.As<Scalar>();
  return scalar != nullptr && scalar->role == SeriesRole::kTrainLoss;
}

}  // namespace

Trainings::Trainings() { Begin({}); }

void Trainings::Collected::Add(Finding finding) {
  if (findings.size() < kFindingsMax) {
    findings.push_back(std::move(finding));
  }
}

void Trainings::Begin(Key key) {
  if (parts_.size() >= kPartsMax) {
    parts_.erase(parts_.begin() + kPartsMax / 2);
  }
  parts_.push_back(std::make_unique<Part>());
  current_ = parts_.back().get();
  current_->key = key;
  for (const DetectorEntry& entry : AllDetectors()) {
    current_->detectors.push_back(entry.make());
  }
  if (start_) {
    current_->builder.Push(*start_);
  }
  const auto shared = key.process ? of_process_.find(*key.process) : of_process_.end();
  if (shared != of_process_.end()) {
    for (const Event& event : shared->second) {
      current_->builder.Push(event);
    }
  }
}

void Trainings::StartOver() {
  parts_.clear();
  Begin({});
}

/// nullptr: a rank of a training that another process tells of already.
Trainings::Part* Trainings::PartOf(const Event& event) {
  const auto source = SourceOf(event);
  if (!source) {
    return current_;
  }
  if (const auto* seen = event.As<Observation>(); seen != nullptr && HoldsForAll(*seen)) {
    auto& shared = of_process_[source->process];
    if (shared.size() < kSharedMax) {
      shared.push_back(event);
    }
  }
  const Key key{source->process, source->training};
  for (const auto& part : parts_) {
    if (part->key == key) {
      return part.get();
    }
  }
  if (!current_->key.process) {
    current_->key = key;  // Nobody had spoken yet.
    return current_;
  }
  const bool other_process = current_->key.process != key.process;
  if (other_process && current_->has_loss && !ended_.contains(*current_->key.process)) {
    return nullptr;  // Both train at once: ranks, whether they say so or not.
  }
  if (source->rank.value_or(0) > 0) {
    return nullptr;
  }
  if (other_process && !current_->has_loss) {
    current_->key = key;  // The one before was no trainer: a launcher, or a look at the data.
    return current_;
  }
  Begin(key);
  return current_;
}

void Trainings::Push(const Event& event) {
  if (event.As<RunStart>() != nullptr) {
    start_ = event;
  } else if (const auto* ended = event.As<ProcessEnd>()) {
    ended_.insert(ended->pid);
  }
  Part* part = PartOf(event);
  if (part == nullptr) {
    return;
  }
  part->has_loss = part->has_loss || IsLoss(event);
  if (event.As<Sample>() == nullptr) {
    part->builder.Push(event);
  }
  for (const auto& detector : part->detectors) {
    detector->Push(event, part->collected);
  }
}

std::vector<const Trainings::Part*> Trainings::Told() const {
  std::vector<const Part*> told;
  for (const auto& part : parts_) {
    if (part->has_loss) {
      told.push_back(part.get());
    }
  }
  return told.empty() ? std::vector<const Part*>{parts_.back().get()} : told;
}

std::size_t Trainings::count() const { return Told().size(); }

std::vector<Finding> Trainings::FindingsOf(std::size_t index) const {
  const Part& part = *Told()[index];
  Collected all = part.collected;
  for (const auto& detector : part.detectors) {
    detector->Finish(all);
  }
  return all.findings;
}

CaseFile Trainings::CaseOf(std::size_t index) const { return Told()[index]->builder.Build(); }

}  // namespace whystop

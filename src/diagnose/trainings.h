#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "detect/detector.h"
#include "diagnose/case_builder.h"
#include "model/event.h"
#include "model/finding.h"

namespace whystop {

/// The trainings of one job, each with findings and a case of its own: what one of a sweep did must not be blamed on
/// another. A training is one model in one process; ranks of the same training count once. Events that belong to nobody
/// (logs, sensors) go to the one that is on.
class Trainings {
 public:
  Trainings();
  Trainings(const Trainings&) = delete;
  Trainings& operator=(const Trainings&) = delete;

  void Push(const Event& event);
  /// Another run begins in an appended log: nothing that was found so far counts.
  void StartOver();

  /// How many made a loss; one where none did.
  std::size_t count() const;
  /// What was found in the one with this number, from 0; `count() - 1` is the last.
  std::vector<Finding> FindingsOf(std::size_t index) const;
  CaseFile CaseOf(std::size_t index) const;

 private:
  struct Key {
    std::optional<std::int64_t> process;
    int training = 1;
    bool operator==(const Key&) const = default;
  };
  class Collected final : public FindingSink {
   public:
    void Add(Finding finding) override;
    std::vector<Finding> findings;
  };
  struct Part {
    Key key;
    CaseBuilder builder;
    std::vector<std::unique_ptr<Detector>> detectors;
    Collected collected;
    bool has_loss = false;
  };

  void Begin(Key key);
  Part* PartOf(const Event& event);
  std::vector<const Part*> Told() const;

  std::vector<std::unique_ptr<Part>> parts_;
  Part* current_ = nullptr;
  std::optional<Event> start_;                  // RunStart: every case begins with it.
  std::map<std::int64_t, std::vector<Event>> of_process_;  // What is said once a process and holds for all its trainings.
  std::set<std::int64_t> ended_;
};

}  // namespace whystop

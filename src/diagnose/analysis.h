#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/case_builder.h"
#include "diagnose/ranking.h"
#include "diagnose/trainings.h"
#include "model/event.h"
#include "model/verdict.h"

namespace whystop {

/// Takes the events of one run and judges it, at the end or at any time before.
class Analysis final : public EventSink {
 public:
  void Push(const Event& event) override;

  /// `job_alive`: the job's process is there at this moment.
  Verdict Judge(bool job_alive) const;
  /// The table behind the learning half of the verdict.
  Ranking Rank(bool job_alive) const;
  /// What the loss of a classifier is that knows how often each class comes and nothing else; nullopt: not known.
  std::optional<double> LossOfGuessing() const;
  /// What the detectors saw; live and from a file the same.
  std::vector<Finding> Findings() const;

 private:
  CaseFile CaseOfJob(bool job_alive) const;
  Verdict JudgeLastRun(bool job_alive) const;

  CaseBuilder builder_;
  Trainings trainings_;
  int runs_ = 1;  // In these files, one after another; the last is judged.
  std::string run_before_;  // How the one before it ended, in a line.
};

}  // namespace whystop

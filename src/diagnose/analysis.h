#pragma once

#include <memory>
#include <vector>

#include "detect/detector.h"
#include "diagnose/case_builder.h"
#include "diagnose/ranking.h"
#include "model/event.h"
#include "model/verdict.h"

namespace whystop {

/// Takes the events of one run and judges it, at the end or at any time before.
class Analysis final : public EventSink {
 public:
  Analysis();
  void Push(const Event& event) override;

  /// `job_alive`: the job's process is there at this moment.
  Verdict Judge(bool job_alive) const;
  /// The table behind the learning half of the verdict.
  Ranking Rank(bool job_alive) const;
  /// What the detectors saw; live and from a file the same.
  std::vector<Finding> Findings() const;

 private:
  class Collected final : public FindingSink {
   public:
    void Add(Finding finding) override;
    const std::vector<Finding>& findings() const { return findings_; }

   private:
    std::vector<Finding> findings_;
  };

  void StartDetectors();

  CaseBuilder builder_;
  std::vector<std::unique_ptr<Detector>> detectors_;
  Collected collected_;
};

}  // namespace whystop

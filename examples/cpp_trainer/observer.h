#pragma once

#include <cstdint>
#include <vector>
#include <whystop/whystop.hpp>

#include "dataset.h"
#include "network.h"
#include "options.h"

/// Tells whystop what a loss alone does not say: tensors now and then, what the loss was given,
/// what activations put out, how often gradients were zeroed and used. With it whystop can say why
/// a run does not learn; five lines are enough to say that it does not.
class Observer {
 public:
  Observer(whystop::Run& recorder, Network& network, const Options& options)
      : recorder_(recorder), network_(network), options_(options) {}

  /// What is known before the first step.
  void Begin(const Dataset& data, double lr);
  void GradientsZeroed() { ++zeroed_; }
  void Stepped() { ++stepped_; }
  /// Between backward pass and optimizer.
  void BeforeStep(int step, double loss, const Dataset& data, const std::vector<std::size_t>& rows);
  void AfterStep(int step);
  void End(int steps) { recorder_.Calls(stepped_, steps, zeroed_); }

 private:
  void RecordTensors(int step);
  void RecordForward(const std::vector<float>& targets, int step);
  void RecordNotFinite(int step);

  whystop::Run& recorder_;
  Network& network_;
  const Options& options_;
  std::vector<std::vector<float>>
      before_;  // The weights before the step that is looked at; empty: it is not.
  std::int64_t zeroed_ = 0, stepped_ = 0;
  bool was_finite_ = true;
};

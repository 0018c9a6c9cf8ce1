#pragma once

#include <cstddef>
#include <cstdint>

#include "whystop/whystop.h"

namespace whystop {

/// A training run as whystop's recorder sees it. C++11, header only, over whystop.h, whose promises
/// hold here too: nothing throws, and without `whystop run` nothing happens.
///
///     whystop::Run run;
///     run.Plan(epochs, steps);
///     run.LearningRate(0.01);
///     run.Step(step, loss);
///     run.Tensor(WS_GRADIENT, "layer0.weight", step, gradient.data(), gradient.size());
class Run {
 public:
  Run() : run_(ws_open()) {}
  ~Run() { ws_close(run_); }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  /// Whether anybody listens; for skipping work that only serves the recording.
  bool recorded() const { return ws_alive(run_) != 0; }
  void Plan(double epochs, std::int64_t steps) { ws_plan(run_, epochs, steps); }
  void Epoch(double epoch) { ws_epoch(run_, epoch); }
  void Phase(const char* phase) { ws_phase(run_, phase); }
  void LearningRate(double lr) { ws_lr(run_, lr); }
  void Step(std::int64_t step, double loss) { ws_step(run_, step, loss); }
  void Scalar(const char* name, ws_role role, std::int64_t step, double value) {
    ws_scalar(run_, name, role, step, value);
  }
  void Tensor(ws_what what, const char* name, std::int64_t step, const float* data,
              std::size_t count) {
    const ws_tensor_view view = {data, count, WS_F32};
    ws_tensor(run_, what, name, step, &view);
  }
  void Tensor(ws_what what, const char* name, std::int64_t step, const double* data,
              std::size_t count) {
    const ws_tensor_view view = {data, count, WS_F64};
    ws_tensor(run_, what, name, step, &view);
  }
  template <std::size_t N>
  void Note(const char* kind, std::int64_t step, const ws_attribute (&attributes)[N]) {
    ws_note(run_, kind, step, attributes, N);
  }
  ws_run* get() const { return run_; }

 private:
  ws_run* run_;
};

}  // namespace whystop

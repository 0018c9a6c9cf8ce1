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
  // What a trainer may tell beyond its losses; see whystop.h.
  void Model(const char* name, const char* activations, std::int64_t parameters,
             std::int64_t trainable) {
    ws_model(run_, name, activations, parameters, trainable);
  }
  void Optimizer(const char* name, double lr, double momentum, double weight_decay) {
    ws_optimizer(run_, name, lr, momentum, weight_decay);
  }
  void Calls(std::int64_t steps, std::int64_t backwards, std::int64_t zero_grads) {
    ws_calls(run_, steps, backwards, zero_grads);
  }
  void Labels(const std::int32_t* labels, std::size_t count) { ws_labels(run_, labels, count); }
  void Inputs(std::int64_t step, const float* values, std::size_t rows, std::size_t columns) {
    ws_inputs(run_, step, values, rows, columns);
  }
  void Activations(std::int64_t step, const char* layer, const char* type, const float* values,
                   std::size_t rows, std::size_t units) {
    ws_activations(run_, step, layer, type, values, rows, units);
  }
  void Loss(std::int64_t step, const ws_loss_call& call) { ws_loss(run_, step, &call); }
  void NotFinite(std::int64_t step, const char* first) { ws_not_finite(run_, step, first); }
  void Stop(const char* file, int line, const char* condition, const char* values) {
    ws_stop(run_, file, line, condition, values);
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

#include "observer.h"

#include <algorithm>
#include <cmath>

namespace {

bool AnyNotFinite(const std::vector<float>& values) {
  return std::any_of(values.begin(), values.end(),
                     [](float value) { return !std::isfinite(value); });
}

}  // namespace

void Observer::Begin(const Dataset& data, double lr) {
  const bool adam = options_.optimizer == "adam";
  recorder_.Optimizer(adam ? "Adam" : "SGD", lr, options_.optimizer == "momentum" ? 0.9 : 0,
                      options_.weight_decay);
  std::int64_t parameters = 0, trainable = 0;
  for (const Layer& layer : network_.layers()) {
    parameters += static_cast<std::int64_t>(layer.weight.value.size() + layer.bias.value.size());
    trainable +=
        layer.weight.frozen
            ? 0
            : static_cast<std::int64_t>(layer.weight.value.size() + layer.bias.value.size());
    recorder_.Tensor(WS_WEIGHT, layer.weight.name.c_str(), 0, layer.weight.value.data(),
                     layer.weight.value.size());
  }
  recorder_.Model("mlp", options_.activation.c_str(), parameters, trainable);
  if (!data.regression) {
    const std::vector<std::int32_t> labels(data.y.begin(), data.y.end());
    recorder_.Labels(labels.data(), labels.size());
  }
}

void Observer::BeforeStep(int step, double loss, const Dataset& data,
                          const std::vector<std::size_t>& rows) {
  const bool turned_bad = was_finite_ && !std::isfinite(loss);
  was_finite_ = std::isfinite(loss);
  before_.clear();
  if (!recorder_.recorded() || ((step - 1) % options_.stats_every != 0 && !turned_bad)) {
    return;
  }
  std::vector<float> targets;
  for (const std::size_t row : rows) {
    targets.push_back(data.y[row]);
  }
  RecordTensors(step);
  RecordForward(targets, step);
  if (turned_bad) {
    RecordNotFinite(step);
  }
  for (const Layer& layer : network_.layers()) {
    before_.push_back(layer.weight.value);
  }
}

void Observer::AfterStep(int step) {
  for (std::size_t i = 0; i < before_.size(); ++i) {
    const Parameter& weight = network_.layers()[i].weight;
    for (std::size_t j = 0; j < before_[i].size(); ++j) {
      before_[i][j] = weight.value[j] - before_[i][j];
    }
    recorder_.Tensor(WS_UPDATE, weight.name.c_str(), step, before_[i].data(), before_[i].size());
  }
  if (!before_.empty()) {
    recorder_.Calls(stepped_, step, zeroed_);
  }
}

/// All tensors: weights and gradients, and what each layer put out for the last batch.
void Observer::RecordTensors(int step) {
  for (Layer& layer : network_.layers()) {
    for (const Parameter* parameter : {&layer.weight, &layer.bias}) {
      const char* name = parameter->name.c_str();
      recorder_.Tensor(WS_WEIGHT, name, step, parameter->value.data(), parameter->value.size());
      if (!parameter->frozen) {
        recorder_.Tensor(WS_GRADIENT, name, step, parameter->gradient.data(),
                         parameter->gradient.size());
      }
    }
    const bool last = &layer == &network_.layers().back();
    recorder_.Tensor(last ? WS_OUTPUT : WS_ACTIVATION, layer.weight.name.c_str(), step,
                     layer.out.data(), layer.out.size());
  }
  const Layer& first = network_.layers().front();
  recorder_.Tensor(WS_INPUT, "batch", step, first.in.data(), first.in.size());
  recorder_.Inputs(step, first.in.data(), first.in.size() / first.inputs, first.inputs);
}

void Observer::RecordForward(const std::vector<float>& targets, int step) {
  const char* type = options_.activation == "relu"   ? "ReLU"
                     : options_.activation == "tanh" ? "Tanh"
                                                     : "Sigmoid";
  for (std::size_t i = 0; i + 1 < network_.layers().size(); ++i) {
    const Layer& layer = network_.layers()[i];
    recorder_.Activations(step, layer.weight.name.c_str(), type, layer.out.data(), targets.size(),
                          layer.outputs);
  }
  const bool regression = network_.loss_input().size() == targets.size();
  recorder_.Loss(step, {regression ? "mse_loss" : "cross_entropy", network_.loss_input().data(),
                        targets.data(), targets.size(), network_.layers().back().outputs, step});
}

/// Which came first? Weights are looked at before the loss, because a bad weight makes a bad loss.
void Observer::RecordNotFinite(int step) {
  const bool weight =
      std::any_of(network_.layers().begin(), network_.layers().end(),
                  [](const Layer& layer) { return AnyNotFinite(layer.weight.value); });
  recorder_.NotFinite(step, AnyNotFinite(network_.layers().front().in) ? "input"
                            : weight                                   ? "weight"
                                                                       : "loss");
}

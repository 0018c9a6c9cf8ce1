// A small trainer in plain C++ that tells whystop what it does: look for `recorder`. It can also be
// made ill on purpose
// (--fault, --lr, --init ...), which whystop's laboratory uses.

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>
#include <whystop/whystop.hpp>

#include "dataset.h"
#include "network.h"
#include "options.h"

namespace {

/// Ways to die that have nothing to do with learning.
void MaybeDie(const Options& options, int step) {
  if (options.fault == "leak") {
    static std::vector<std::unique_ptr<std::vector<char>>> kept;
    kept.push_back(std::make_unique<std::vector<char>>(1 << 20, 'x'));
  }
  if (step != options.steps / 2) {
    return;
  }
  if (options.fault == "segfault") {
    volatile int* nowhere = nullptr;
    *nowhere = 1;
  } else if (options.fault == "abort") {
    std::abort();
  } else if (options.fault == "exception") {
    throw std::runtime_error("sample 17 has no label");
  } else if (options.fault == "exit") {
    std::exit(3);
  } else if (options.fault == "hang") {
    pause();
  }
}

/// All tensors: weights and gradients, and what each layer put out for the last batch.
void RecordTensors(whystop::Run& recorder, Network& network, int step) {
  if (!recorder.recorded()) {
    return;
  }
  for (Layer& layer : network.layers()) {
    for (const Parameter* parameter : {&layer.weight, &layer.bias}) {
      const char* name = parameter->name.c_str();
      recorder.Tensor(WS_WEIGHT, name, step, parameter->value.data(), parameter->value.size());
      if (!parameter->frozen) {
        recorder.Tensor(WS_GRADIENT, name, step, parameter->gradient.data(),
                        parameter->gradient.size());
      }
    }
    const bool last = &layer == &network.layers().back();
    recorder.Tensor(last ? WS_OUTPUT : WS_ACTIVATION, layer.weight.name.c_str(), step,
                    layer.out.data(), layer.out.size());
  }
  const Layer& first = network.layers().front();
  recorder.Tensor(WS_INPUT, "batch", step, first.in.data(), first.in.size());
  recorder.Inputs(step, first.in.data(), first.in.size() / first.inputs, first.inputs);
}

/// Why does it not learn? What each hidden layer puts out, and what the loss was given.
void RecordForward(whystop::Run& recorder, Network& network, const Options& options,
                   const std::vector<float>& targets, int step) {
  if (!recorder.recorded()) {
    return;
  }
  const char* type = options.activation == "relu"   ? "ReLU"
                     : options.activation == "tanh" ? "Tanh"
                                                    : "Sigmoid";
  for (std::size_t i = 0; i + 1 < network.layers().size(); ++i) {
    const Layer& layer = network.layers()[i];
    recorder.Activations(step, layer.weight.name.c_str(), type, layer.out.data(), targets.size(),
                         layer.outputs);
  }
  const bool regression = network.loss_input().size() == targets.size();
  recorder.Loss(step, {regression ? "mse_loss" : "cross_entropy", network.loss_input().data(),
                       targets.data(), targets.size(), network.layers().back().outputs, step});
}

/// Which came first? Weights are looked at before the loss, because a bad weight makes a bad loss.
void RecordNotFinite(whystop::Run& recorder, Network& network, int step) {
  const auto is_bad = [](const std::vector<float>& values) {
    return std::any_of(values.begin(), values.end(),
                       [](float value) { return !std::isfinite(value); });
  };
  const bool weight = std::any_of(network.layers().begin(), network.layers().end(),
                                  [&](const Layer& layer) { return is_bad(layer.weight.value); });
  recorder.NotFinite(step, is_bad(network.layers().front().in) ? "input"
                           : weight                            ? "weight"
                                                               : "loss");
}

/// What the optimizer's step added to each weight.
class Updates {
 public:
  void Before(Network& network) {
    before_.clear();
    for (const Layer& layer : network.layers()) {
      before_.push_back(layer.weight.value);
    }
  }
  void Record(whystop::Run& recorder, Network& network, int step) {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      const Parameter& weight = network.layers()[i].weight;
      for (std::size_t j = 0; j < before_[i].size(); ++j) {
        before_[i][j] = weight.value[j] - before_[i][j];
      }
      recorder.Tensor(WS_UPDATE, weight.name.c_str(), step, before_[i].data(), before_[i].size());
    }
  }

 private:
  std::vector<std::vector<float>> before_;
};

std::vector<float> TargetsOf(const Dataset& data, const std::vector<std::size_t>& rows) {
  std::vector<float> targets;
  for (const std::size_t row : rows) {
    targets.push_back(data.y[row]);
  }
  return targets;
}

/// What is known before the first step.
void RecordSetup(whystop::Run& recorder, Network& network, const Options& options,
                 const Dataset& data, double lr) {
  const bool plain = options.optimizer != "adam";
  recorder.Optimizer(plain ? "SGD" : "Adam", lr, options.optimizer == "momentum" ? 0.9 : 0,
                     options.weight_decay);
  std::int64_t parameters = 0;
  for (const Layer& layer : network.layers()) {
    parameters += static_cast<std::int64_t>(layer.weight.value.size() + layer.bias.value.size());
    recorder.Tensor(WS_WEIGHT, layer.weight.name.c_str(), 0, layer.weight.value.data(),
                    layer.weight.value.size());
  }
  recorder.Model("mlp", options.activation.c_str(), parameters);
  if (!data.regression) {
    const std::vector<std::int32_t> labels(data.y.begin(), data.y.end());
    recorder.Labels(labels.data(), labels.size());
  }
}

void Evaluate(whystop::Run& recorder, Network& network, const Dataset& held_out, int step) {
  recorder.Phase("eval");
  std::vector<std::size_t> rows(held_out.size());
  std::iota(rows.begin(), rows.end(), 0);
  int correct = 0;
  const double loss = network.Forward(held_out, rows, correct);
  recorder.Scalar("val_loss", WS_VALIDATION_LOSS, step, loss);
  if (!held_out.regression) {
    const double accuracy = static_cast<double>(correct) / static_cast<double>(rows.size());
    recorder.Scalar("val_accuracy", WS_VALIDATION_SCORE, step, accuracy);
  }
  recorder.Phase("train");
}

/// The two faults of a program that stops itself.
bool WantsToStop(const Options& options, double loss, double& best, whystop::Run& recorder) {
  if (options.fault == "target-reached" && loss < options.target) {
    recorder.Stop(
        __FILE__, __LINE__, "loss < target",
        ("loss=" + std::to_string(loss) + ", target=" + std::to_string(options.target)).c_str());
    return true;
  }
  const bool worse = options.fault == "early-stop" && loss > best;
  best = loss;
  if (worse) {
    recorder.Stop(__FILE__, __LINE__, "wait >= patience", "wait=1, patience=1");
  }
  return worse;
}

void Train(const Options& options) {
  const Dataset data = MakeDataset(options, false);
  const Dataset held_out = MakeDataset(options, true);
  Network network(data, options);
  Batches batches(data, options);
  const int steps_per_epoch = options.samples / options.batch;
  const double lr = options.fault == "lr-zero"      ? 0
                    : options.fault == "wrong-sign" ? -options.lr
                                                    : options.lr;

  whystop::Run recorder;
  recorder.Plan(std::ceil(static_cast<double>(options.steps) / steps_per_epoch), options.steps);
  recorder.LearningRate(std::abs(lr));
  RecordSetup(recorder, network, options, data, std::abs(lr));
  recorder.Phase("train");
  Updates updates;
  int zeroed = 0, stepped = 0;
  double epoch_loss = 0, best = INFINITY;
  int epoch = 0;
  bool was_finite = true;
  for (int step = 1; step <= options.steps; ++step) {
    const std::vector<std::size_t>& rows = batches.Next();
    if (batches.epoch() != epoch) {
      epoch = batches.epoch();
      recorder.Epoch(epoch);
      if (epoch > 1) {
        if (!options.quiet) {
          std::printf("epoch %d loss %.4f\n", epoch - 1, epoch_loss / steps_per_epoch);
        }
        if (WantsToStop(options, epoch_loss / steps_per_epoch, best, recorder)) {
          std::printf("stopping early\n");
          return;
        }
      }
      epoch_loss = 0;
      Evaluate(recorder, network, held_out, step - 1);
    }
    int correct = 0;
    const double loss = network.Forward(data, rows, correct);
    if (options.fault != "missing-zero-grad") {
      network.ZeroGradients();
      ++zeroed;
    }
    network.Backward();
    if (options.fault == "loss-spike" && step == options.steps / 2) {
      for (Layer& layer : network.layers()) {
        for (float& value : layer.weight.value) {
          value *= 4;
        }
      }
    }
    const bool turned_bad = was_finite && !std::isfinite(loss);
    was_finite = std::isfinite(loss);
    const bool look = recorder.recorded() &&
                      (step % options.stats_every == 1 || options.stats_every == 1 || turned_bad);
    if (look) {
      RecordTensors(recorder, network, step);
      RecordForward(recorder, network, options, TargetsOf(data, rows), step);
      updates.Before(network);
    }
    if (turned_bad) {
      RecordNotFinite(recorder, network, step);
    }
    if (options.fault != "no-optimizer-step") {
      network.Step(lr);
      ++stepped;
    }
    if (look) {
      updates.Record(recorder, network, step);
      recorder.Calls(stepped, step, zeroed);
    }
    recorder.Step(step, loss);
    epoch_loss += loss;
    if (options.step_ms > 0) {
      usleep(static_cast<useconds_t>(options.step_ms) * 1000);
    }
    MaybeDie(options, step);
  }
  recorder.Calls(stepped, options.steps, zeroed);
  Evaluate(recorder, network, held_out, options.steps);
  std::printf("done after %d steps\n", options.steps);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const std::string fault = ParseOptions(argc, argv, options);
  if (!fault.empty() || options.help) {
    (options.help ? std::cout : std::cerr)
        << (options.help ? "" : "cpp_trainer: " + fault + "\n") << Usage();
    return options.help ? 0 : 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  Train(options);
  return 0;
}

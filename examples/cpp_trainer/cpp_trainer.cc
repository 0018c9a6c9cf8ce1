// A small trainer in plain C++ that tells whystop what it does: look for `recorder`. It can also be
// made ill on purpose
// (--fault, --lr, --init ...), which whystop's laboratory uses.

#include <unistd.h>

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
#include "observer.h"
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
  Observer observer(recorder, network, options);
  observer.Begin(data, std::abs(lr));
  recorder.Phase("train");
  double epoch_loss = 0, best = INFINITY;
  int epoch = 0;
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
          std::printf("leaving the loop\n");
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
      observer.GradientsZeroed();
    }
    network.Backward();
    if (options.fault == "loss-spike" && step == options.steps / 2) {
      network.ScaleWeights(4);
    }
    observer.BeforeStep(step, loss, data, rows);
    if (options.fault != "no-optimizer-step") {
      network.Step(lr);
      observer.Stepped();
    }
    observer.AfterStep(step);
    recorder.Step(step, loss);
    epoch_loss += loss;
    if (options.step_ms > 0) {
      usleep(static_cast<useconds_t>(options.step_ms) * 1000);
    }
    MaybeDie(options, step);
  }
  observer.End(options.steps);
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

#include "options.h"

#include <cstdlib>
#include <map>
#include <vector>

namespace {

struct Fault {
  const char* name;
  const char* what;
};

const Fault kFaults[] = {
    {"none", "train properly"},
    {"no-optimizer-step", "compute gradients and never use them"},
    {"missing-zero-grad", "let gradients add up from step to step"},
    {"frozen-params", "update the last layer only"},
    {"lr-zero", "a schedule that has come down to zero at the start"},
    {"wrong-sign", "go up the gradient"},
    {"labels-random", "targets that have nothing to do with the inputs"},
    {"class-imbalance", "nearly all samples are of one class"},
    {"unscaled-inputs", "inputs of a thousand times the usual size"},
    {"tiny-inputs", "inputs of a thousandth of the usual size"},
    {"unscaled-targets", "regression targets in the thousands"},
    {"nan-in-data", "a NaN in one sample"},
    {"invalid-math", "probabilities rounded to one digit before log and division"},
    {"double-softmax", "probabilities given where scores are expected"},
    {"dead-relu", "biases so low that no unit ever fires"},
    {"saturation", "weights so large that sigmoid and tanh are flat"},
    {"order-not-shuffled", "samples sorted by class, never shuffled"},
    {"loss-spike", "one corrupted batch in the middle"},
    {"early-stop", "stop by patience 1 on a noisy loss"},
    {"target-reached", "stop when the loss is good enough"},
    {"leak", "keep 1 MB a step"},
    {"segfault", "write to address zero in the middle"},
    {"abort", "abort() in the middle"},
    {"exception", "an uncaught C++ exception in the middle"},
    {"exit", "exit(3) in the middle"},
    {"hang", "wait for ever in the middle"},
};

bool IsOneOf(const std::string& value, const std::vector<std::string>& allowed) {
  for (const std::string& choice : allowed) {
    if (value == choice) {
      return true;
    }
  }
  return false;
}

bool IsFault(const std::string& name) {
  for (const Fault& fault : kFaults) {
    if (name == fault.name) {
      return true;
    }
  }
  return false;
}

std::string Check(const Options& options) {
  if (!IsOneOf(options.task, {"classes", "spiral", "regression"})) {
    return "unknown task '" + options.task + "': classes, spiral or regression";
  }
  if (!IsOneOf(options.activation, {"relu", "tanh", "sigmoid"})) {
    return "unknown activation '" + options.activation + "': relu, tanh or sigmoid";
  }
  if (!IsOneOf(options.optimizer, {"sgd", "momentum", "adam"})) {
    return "unknown optimizer '" + options.optimizer + "': sgd, momentum or adam";
  }
  if (!IsOneOf(options.init, {"he", "xavier", "zeros", "huge", "tiny"})) {
    return "unknown init '" + options.init + "': he, xavier, zeros, huge or tiny";
  }
  if (!IsFault(options.fault)) {
    return "unknown fault '" + options.fault + "': see --help";
  }
  if (options.steps < 1 || options.batch < 1 || options.hidden < 1 || options.layers < 0 ||
      options.samples < options.batch || options.stats_every < 1) {
    return "sizes must be positive, and samples at least one batch";
  }
  return "";
}

}  // namespace

std::string ParseOptions(int argc, char** argv, Options& out) {
  const std::map<std::string, std::string*> texts = {{"--task", &out.task},
                                                     {"--activation", &out.activation},
                                                     {"--optimizer", &out.optimizer},
                                                     {"--init", &out.init},
                                                     {"--fault", &out.fault}};
  const std::map<std::string, int*> numbers = {{"--steps", &out.steps},
                                               {"--batch", &out.batch},
                                               {"--hidden", &out.hidden},
                                               {"--layers", &out.layers},
                                               {"--samples", &out.samples},
                                               {"--seed", &out.seed},
                                               {"--stats-every", &out.stats_every},
                                               {"--step-ms", &out.step_ms}};
  const std::map<std::string, double*> reals = {
      {"--lr", &out.lr}, {"--target", &out.target}, {"--weight-decay", &out.weight_decay}};
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--help" || name == "--quiet") {
      (name == "--help" ? out.help : out.quiet) = true;
      continue;
    }
    const bool known = texts.count(name) + numbers.count(name) + reals.count(name) > 0;
    if (!known || i + 1 >= argc) {
      return known ? name + " needs a value" : "unknown option '" + name + "'";
    }
    const char* value = argv[++i];
    char* end = nullptr;
    if (texts.count(name) > 0) {
      *texts.at(name) = value;
      continue;
    }
    const double number = std::strtod(value, &end);
    if (end == value || *end != '\0') {
      return name + ": '" + value + "' is not a number";
    }
    if (reals.count(name) > 0) {
      *reals.at(name) = number;
    } else {
      *numbers.at(name) = static_cast<int>(number);
    }
  }
  return Check(out);
}

std::string Usage() {
  std::string text =
      "usage: cpp_trainer [--task classes|spiral|regression] [--lr X] [--steps N] [--batch N] "
      "[--hidden N]\n"
      "                   [--layers N] [--activation relu|tanh|sigmoid] [--optimizer "
      "sgd|momentum|adam]\n"
      "                   [--init he|xavier|zeros|huge|tiny] [--weight-decay X] [--samples N] "
      "[--seed N]\n"
      "                   [--stats-every N] [--step-ms N] [--target X] [--fault NAME] [--quiet]\n"
      "example: whystop run -- cpp_trainer --task spiral --lr 30 --optimizer sgd\n"
      "faults:\n";
  for (const Fault& fault : kFaults) {
    text += "  " + std::string(fault.name) + std::string(20 - std::string(fault.name).size(), ' ') +
            fault.what + "\n";
  }
  return text;
}

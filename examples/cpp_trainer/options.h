#pragma once

#include <string>

/// What the command line asks for. Every choice has a healthy default.
struct Options {
  std::string task = "classes";     // classes | spiral | regression
  std::string activation = "relu";  // relu | tanh | sigmoid
  std::string optimizer = "adam";   // sgd | momentum | adam
  std::string init = "he";          // he | xavier | zeros | huge | tiny
  std::string fault = "none";       // See kFaults in options.cc.
  double lr = 0.003;
  double weight_decay = 0;
  double target = 0.05;  // Of the fault target-reached: the loss that is good enough.
  int steps = 600;
  int batch = 32;
  int hidden = 32;
  int layers = 2;  // Hidden ones.
  int samples = 1024;
  int seed = 1;
  int stats_every = 25;  // Steps between looks at all tensors.
  int step_ms = 0;       // Pretended work, to make a run long.
  bool quiet = false;
  bool help = false;
};

/// Reads the arguments; the text of the fault, or empty.
std::string ParseOptions(int argc, char** argv, Options& out);
std::string Usage();

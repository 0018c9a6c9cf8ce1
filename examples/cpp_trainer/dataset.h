#pragma once

#include <cstddef>
#include <random>
#include <vector>

#include "options.h"

/// Generated samples. A target is a class number or, for regression, a value.
struct Dataset {
  std::size_t inputs = 0;   // Values per sample.
  std::size_t outputs = 0;  // Classes, or 1 for regression.
  bool regression = false;
  std::vector<float> x;  // Row by row.
  std::vector<float> y;

  std::size_t size() const { return y.size(); }
};

/// The training samples; `held_out` asks for others of the same kind, in good health.
Dataset MakeDataset(const Options& options, bool held_out);

/// A stream of batches: row numbers, reshuffled each epoch unless the fault says otherwise.
class Batches {
 public:
  Batches(const Dataset& data, const Options& options);
  const std::vector<std::size_t>& Next();
  int epoch() const { return epoch_; }

 private:
  std::size_t batch_;
  bool shuffle_;
  std::mt19937 random_;
  std::vector<std::size_t> order_;
  std::vector<std::size_t> rows_;
  std::size_t at_ = 0;
  int epoch_ = 0;
};

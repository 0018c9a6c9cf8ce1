#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dataset.h"
#include "options.h"

/// Numbers that are trained together, with what the optimizer keeps about them.
struct Parameter {
  std::string name;
  std::vector<float> value, gradient, momentum, variance;
  bool frozen = false;
};

/// A fully connected layer and what its last batch left behind.
struct Layer {
  std::size_t inputs = 0, outputs = 0;
  Parameter weight, bias;
  std::vector<float> in, out;  // Of the last batch, row by row; `out` after the activation.
};

/// A multilayer perceptron with its loss: cross entropy for classes, mean squared error for
/// regression.
class Network {
 public:
  Network(const Dataset& data, const Options& options);

  /// The mean loss over the rows; `correct` counts right classes.
  double Forward(const Dataset& data, const std::vector<std::size_t>& rows, int& correct);
  /// Gradients of the last Forward, added to what is there.
  void Backward();
  void ZeroGradients();
  void Step(double lr);
  void ScaleWeights(float factor);

  std::vector<Layer>& layers() { return layers_; }
  /// What the loss of the last batch was computed from, row by row.
  const std::vector<float>& loss_input() const { return loss_input_; }

 private:
  double Loss(const Dataset& data, const std::vector<std::size_t>& rows, int& correct);
  double ClassLoss(std::size_t row, int label, int& correct);
  void Activate(std::vector<float>& values) const;
  float Slope(float activated) const;

  Options options_;
  std::vector<Layer> layers_;
  std::vector<float> output_gradient_;
  std::vector<float> loss_input_;
  std::size_t rows_ = 0;
  int steps_ = 0;
};

// Fits y = a x + b by gradient descent, and tells whystop each step. Without `whystop run` in front nothing of that
// costs anything.
#include <cstdio>
#include <random>

#include "whystop/whystop.hpp"

int main() {
  std::mt19937 generator(1);
  std::normal_distribution<double> normal;
  constexpr int kEpochs = 20, kBatches = 50, kBatch = 32;
  constexpr double kRate = 0.05;
  double a = 0, b = 0;

  whystop::Run run;
  run.Plan(kEpochs, kEpochs * kBatches);
  run.Optimizer("SGD", kRate, 0, 0);
  run.LearningRate(kRate);
  for (int step = 0; step < kEpochs * kBatches; ++step) {
    double loss = 0;
    double gradient[2] = {0, 0};
    for (int i = 0; i < kBatch; ++i) {
      const double x = normal(generator);
      const double error = a * x + b - (3 * x - 1 + 0.1 * normal(generator));
      loss += error * error / kBatch;
      gradient[0] += 2 * error * x / kBatch;
      gradient[1] += 2 * error / kBatch;
    }
    a -= kRate * gradient[0];
    b -= kRate * gradient[1];
    run.Epoch(1 + step / kBatches);
    run.Step(step, loss);
    run.Tensor(WS_GRADIENT, "line", step, gradient, 2);
    if (step % kBatches == 0) {
      std::printf("epoch %d/%d loss %.4f\n", 1 + step / kBatches, kEpochs, loss);
    }
  }
}

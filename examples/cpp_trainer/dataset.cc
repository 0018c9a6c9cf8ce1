#include "dataset.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace {

constexpr std::size_t kFeatures = 8;
constexpr int kClasses = 4;

int ClassOf(std::size_t row, const Options& options, bool held_out) {
  if (options.fault == "class-imbalance" && !held_out) {
    return row % 100 == 0 ? 1 + static_cast<int>(row / 100) % (kClasses - 1) : 0;
  }
  return static_cast<int>(row) % kClasses;
}

void FillClasses(Dataset& data, std::size_t count, const Options& options, std::mt19937& random,
                 bool held_out) {
  std::normal_distribution<float> normal(0, 1);
  std::mt19937 place(99);  // The classes lie where they lie, whatever the seed.
  std::vector<float> centres(kFeatures * kClasses);
  for (float& value : centres) {
    value = 1.2f * normal(place);
  }
  for (std::size_t row = 0; row < count; ++row) {
    const int label = ClassOf(row, options, held_out);
    for (std::size_t i = 0; i < kFeatures; ++i) {
      data.x.push_back(centres[static_cast<std::size_t>(label) * kFeatures + i] + normal(random));
    }
    data.y.push_back(static_cast<float>(label));
  }
}

void FillSpiral(Dataset& data, std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> noise(0, 0.05f);
  for (std::size_t row = 0; row < count; ++row) {
    const auto label = static_cast<float>(row % 2);
    const float t = static_cast<float>(row) / static_cast<float>(count);
    const float angle = 6.0f * t + 3.14159f * label;
    data.x.push_back(2 * t * std::cos(angle) + noise(random));
    data.x.push_back(2 * t * std::sin(angle) + noise(random));
    data.y.push_back(label);
  }
}

void FillRegression(Dataset& data, std::size_t count, std::mt19937& random) {
  std::normal_distribution<float> normal(0, 1);
  for (std::size_t row = 0; row < count; ++row) {
    float sum = 0;
    for (std::size_t i = 0; i < kFeatures; ++i) {
      const float value = normal(random);
      data.x.push_back(value);
      sum += (i % 2 == 0 ? 0.5f : -0.3f) * value;
    }
    data.y.push_back(std::sin(sum) + 0.5f * sum + 0.1f * normal(random));
  }
}

void Spoil(Dataset& data, const Options& options, std::mt19937& random) {
  if (options.fault == "labels-random") {
    std::shuffle(data.y.begin(), data.y.end(), random);
  } else if (options.fault == "nan-in-data") {
    data.x[data.x.size() / 2] = std::nanf("");
  } else if (options.fault == "unscaled-inputs" || options.fault == "tiny-inputs") {
    const float factor = options.fault == "tiny-inputs" ? 1e-3f : 1e3f;
    for (float& value : data.x) {
      value *= factor;
    }
  } else if (options.fault == "unscaled-targets") {
    for (float& value : data.y) {
      value = data.regression ? 5000 + 1000 * value : value;
    }
  }
}

}  // namespace

Dataset MakeDataset(const Options& options, bool held_out) {
  Dataset data;
  const std::size_t count =
      static_cast<std::size_t>(held_out ? options.samples / 4 + 1 : options.samples);
  std::mt19937 random(static_cast<std::uint32_t>(options.seed) * 2 + (held_out ? 1 : 0));
  data.regression = options.task == "regression";
  data.inputs = options.task == "spiral" ? 2 : kFeatures;
  data.outputs = data.regression ? 1 : options.task == "spiral" ? 2 : kClasses;
  if (options.task == "classes") {
    FillClasses(data, count, options, random, held_out);
  } else if (options.task == "spiral") {
    FillSpiral(data, count, random);
  } else {
    FillRegression(data, count, random);
  }
  if (!held_out) {
    Spoil(data, options, random);
  }
  return data;
}

Batches::Batches(const Dataset& data, const Options& options)
    : batch_(static_cast<std::size_t>(options.batch)),
      shuffle_(options.fault != "order-not-shuffled"),
      random_(static_cast<std::uint32_t>(options.seed) + 1000),
      order_(data.size()),
      at_(data.size()) {
  std::iota(order_.begin(), order_.end(), 0);
  if (!shuffle_) {
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return data.y[a] < data.y[b]; });
  }
}

const std::vector<std::size_t>& Batches::Next() {
  if (at_ + batch_ > order_.size()) {
    at_ = 0;
    ++epoch_;
    if (shuffle_) {
      std::shuffle(order_.begin(), order_.end(), random_);
    }
  }
  rows_.assign(order_.begin() + static_cast<std::ptrdiff_t>(at_),
               order_.begin() + static_cast<std::ptrdiff_t>(at_ + batch_));
  at_ += batch_;
  return rows_;
}

#include "network.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace {

Parameter MakeParameter(const std::string& name, std::size_t size) {
  Parameter parameter;
  parameter.name = name;
  parameter.value.assign(size, 0.0f);
  parameter.gradient = parameter.momentum = parameter.variance = parameter.value;
  return parameter;
}

float InitialScale(const Options& options, std::size_t inputs, std::size_t outputs) {
  const auto in = static_cast<float>(inputs), out = static_cast<float>(outputs);
  if (options.fault == "saturation" || options.init == "huge") {
    return 20.0f;
  }
  if (options.init == "zeros") {
    return 0.0f;
  }
  if (options.init == "tiny") {
    return 1e-6f;
  }
  return options.init == "xavier" ? std::sqrt(2.0f / (in + out)) : std::sqrt(2.0f / in);
}

}  // namespace

Network::Network(const Dataset& data, const Options& options) : options_(options) {
  std::mt19937 random(static_cast<std::uint32_t>(options.seed) + 7);
  std::normal_distribution<float> normal(0, 1);
  std::size_t inputs = data.inputs;
  for (int i = 0; i <= options.layers; ++i) {
    const bool last = i == options.layers;
    Layer layer;
    layer.inputs = inputs;
    layer.outputs = last ? data.outputs : static_cast<std::size_t>(options.hidden);
    const std::string name = "layer" + std::to_string(i);
    layer.weight = MakeParameter(name + ".weight", layer.inputs * layer.outputs);
    layer.bias = MakeParameter(name + ".bias", layer.outputs);
    const float scale = InitialScale(options, layer.inputs, layer.outputs);
    for (float& value : layer.weight.value) {
      value = scale * normal(random);
    }
    if (options.fault == "dead-relu" && !last) {
      std::fill(layer.bias.value.begin(), layer.bias.value.end(), -100.0f);
    }
    layer.weight.frozen = layer.bias.frozen = options.fault == "frozen-params" && !last;
    inputs = layer.outputs;
    layers_.push_back(std::move(layer));
  }
}

void Network::Activate(std::vector<float>& values) const {
  for (float& value : values) {
    if (options_.activation == "relu") {
      value = value < 0 ? 0 : value;  // Lets a NaN through, as real frameworks do.
    } else if (options_.activation == "tanh") {
      value = std::tanh(value);
    } else {
      value = 1 / (1 + std::exp(-value));
    }
  }
}

float Network::Slope(float activated) const {
  if (options_.activation == "relu") {
    return activated > 0 ? 1.0f : 0.0f;
  }
  return options_.activation == "tanh" ? 1 - activated * activated : activated * (1 - activated);
}

double Network::Forward(const Dataset& data, const std::vector<std::size_t>& rows, int& correct) {
  rows_ = rows.size();
  std::vector<float> current;
  for (const std::size_t row : rows) {
    const auto start = data.x.begin() + static_cast<std::ptrdiff_t>(row * data.inputs);
    current.insert(current.end(), start, start + static_cast<std::ptrdiff_t>(data.inputs));
  }
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    Layer& layer = layers_[index];
    layer.in = current;
    layer.out.assign(rows_ * layer.outputs, 0);
    for (std::size_t row = 0; row < rows_; ++row) {
      const float* in = &layer.in[row * layer.inputs];
      for (std::size_t o = 0; o < layer.outputs; ++o) {
        const float* weight = &layer.weight.value[o * layer.inputs];
        float sum = layer.bias.value[o];
        for (std::size_t i = 0; i < layer.inputs; ++i) {
          sum += weight[i] * in[i];
        }
        layer.out[row * layer.outputs + o] = sum;
      }
    }
    if (index + 1 < layers_.size()) {
      Activate(layer.out);
    }
    current = layer.out;
  }
  return Loss(data, rows, correct);
}

double Network::Loss(const Dataset& data, const std::vector<std::size_t>& rows, int& correct) {
  const std::vector<float>& out = layers_.back().out;
  output_gradient_.assign(out.size(), 0);
  loss_input_ = out;
  double loss = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const float target = data.y[rows[row]];
    if (data.regression) {
      const float error = out[row] - target;
      loss += static_cast<double>(error) * static_cast<double>(error);
      output_gradient_[row] = 2 * error / static_cast<float>(rows.size());
    } else {
      loss += ClassLoss(row, static_cast<int>(target), correct);
    }
  }
  return loss / static_cast<double>(rows.size());
}

double Network::ClassLoss(std::size_t row, int label, int& correct) {
  const std::size_t classes = layers_.back().outputs;
  const float* scores = &layers_.back().out[row * classes];
  const auto softmax = [&](const std::vector<float>& from) {
    std::vector<float> shares = from;
    const float top = *std::max_element(from.begin(), from.end());
    float sum = 0;
    for (float& share : shares) {
      share = std::exp(share - top);
      sum += share;
    }
    for (float& share : shares) {
      share /= sum;
    }
    return shares;
  };
  const std::vector<float> raw(scores, scores + classes);
  correct += std::max_element(raw.begin(), raw.end()) - raw.begin() == label ? 1 : 0;
  const std::vector<float> inner = softmax(raw);
  const bool twice = options_.fault == "double-softmax";
  const std::vector<float> share = twice ? softmax(inner) : inner;
  if (twice) {
    std::copy(inner.begin(), inner.end(),
              loss_input_.begin() + static_cast<std::ptrdiff_t>(row * classes));
  }
  std::vector<float> gradient(classes);
  for (std::size_t c = 0; c < classes; ++c) {
    gradient[c] = share[c] - (static_cast<int>(c) == label ? 1.0f : 0.0f);
  }
  if (twice) {  // Through the inner softmax: its Jacobian times the outer gradient.
    float dot = 0;
    for (std::size_t c = 0; c < classes; ++c) {
      dot += gradient[c] * inner[c];
    }
    for (std::size_t c = 0; c < classes; ++c) {
      gradient[c] = inner[c] * (gradient[c] - dot);
    }
  }
  for (std::size_t c = 0; c < classes; ++c) {
    output_gradient_[row * classes + c] = gradient[c] / static_cast<float>(rows_);
  }
  const float p = share[static_cast<std::size_t>(label)];
  if (options_.fault == "invalid-math") {
    // Somebody rounds probabilities to one digit: 0/0 in the gradient and log(0) as soon as one is
    // small.
    const float rounded = std::floor(p * 10) / 10;
    for (std::size_t c = 0; c < classes; ++c) {
      output_gradient_[row * classes + c] *= rounded / rounded;
    }
    return -std::log(static_cast<double>(rounded));
  }
  if (!twice && p < 1e-6f) {
    // As frameworks do, by differences: log(p) itself would give out where training goes badly.
    const float top = *std::max_element(raw.begin(), raw.end());
    return static_cast<double>(top - raw[static_cast<std::size_t>(label)]);
  }
  return -std::log(static_cast<double>(p));
}

void Network::Backward() {
  std::vector<float> gradient = output_gradient_;
  for (std::size_t index = layers_.size(); index-- > 0;) {
    Layer& layer = layers_[index];
    std::vector<float> below(rows_ * layer.inputs, 0);
    for (std::size_t row = 0; row < rows_; ++row) {
      const float* in = &layer.in[row * layer.inputs];
      for (std::size_t o = 0; o < layer.outputs; ++o) {
        const float g = gradient[row * layer.outputs + o];
        layer.bias.gradient[o] += g;
        for (std::size_t i = 0; i < layer.inputs; ++i) {
          layer.weight.gradient[o * layer.inputs + i] += g * in[i];
          below[row * layer.inputs + i] += g * layer.weight.value[o * layer.inputs + i];
        }
      }
    }
    if (index > 0) {
      for (std::size_t i = 0; i < below.size(); ++i) {
        below[i] *= Slope(layer.in[i]);
      }
    }
    gradient = std::move(below);
  }
}

void Network::ZeroGradients() {
  for (Layer& layer : layers_) {
    std::fill(layer.weight.gradient.begin(), layer.weight.gradient.end(), 0.0f);
    std::fill(layer.bias.gradient.begin(), layer.bias.gradient.end(), 0.0f);
  }
}

void Network::Step(double lr) {
  ++steps_;
  const auto rate = static_cast<float>(lr);
  const auto decay = static_cast<float>(options_.weight_decay);
  const float first_share = 1 - std::pow(0.9f, static_cast<float>(steps_));
  const float second_share = 1 - std::pow(0.999f, static_cast<float>(steps_));
  for (Layer& layer : layers_) {
    for (Parameter* parameter : {&layer.weight, &layer.bias}) {
      if (parameter->frozen) {
        continue;
      }
      for (std::size_t i = 0; i < parameter->value.size(); ++i) {
        const float g = parameter->gradient[i] + decay * parameter->value[i];
        float& m = parameter->momentum[i];
        float& v = parameter->variance[i];
        if (options_.optimizer == "adam") {
          m = 0.9f * m + 0.1f * g;
          v = 0.999f * v + 0.001f * g * g;
          parameter->value[i] -= rate * (m / first_share) / (std::sqrt(v / second_share) + 1e-8f);
        } else {
          m = options_.optimizer == "momentum" ? 0.9f * m + g : g;
          parameter->value[i] -= rate * m;
        }
      }
    }
  }
}

void Network::ScaleWeights(float factor) {
  for (Layer& layer : layers_) {
    for (float& value : layer.weight.value) {
      value *= factor;
    }
  }
}

// The observations of docs/observations.md for trainers that are not in Python. No heap: texts are
// built on the stack.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <string_view>

#include "whystop/whystop.h"

namespace {

constexpr std::int32_t kClassesMax = 64;
constexpr std::size_t kColumnsMax = 4096;
// Beyond these a sigmoid or tanh passes less than 4 % of its steepest slope; the probe for Python
// has the same.
constexpr float kSigmoidEdge = 0.01F;
constexpr float kTanhEdge = 0.99F;

ws_attribute Text(const char* key, const char* text) {
  return {key, text == nullptr ? "" : text, 0};
}
ws_attribute Number(const char* key, double number) { return {key, nullptr, number}; }

/// "32x8".
struct Shape {
  Shape(std::size_t rows, std::size_t columns) {
    std::snprintf(text, sizeof(text), "%zux%zu", rows, columns);
  }
  explicit Shape(std::size_t rows) { std::snprintf(text, sizeof(text), "%zu", rows); }
  char text[48];
};

struct Moments {
  double mean = 0, std = 0, min = 0, max = 0;
  double nan = 0, inf = 0, zero = 0;
};

Moments MomentsOf(const float* values, std::size_t count) {
  const ws_tensor_view view = {values, count, WS_F32};
  ws_stats stats;
  ws_tensor_stats(&view, 1, &stats);
  Moments out;
  const double finite = static_cast<double>(stats.count - stats.nan_count - stats.inf_count);
  out.mean = finite > 0 ? stats.sum / finite : 0;
  out.std =
      finite > 0 ? std::sqrt(std::max(0.0, stats.sum_squares / finite - out.mean * out.mean)) : 0;
  out.min = stats.min;
  out.max = stats.max;
  out.nan = static_cast<double>(stats.nan_count);
  out.inf = static_cast<double>(stats.inf_count);
  out.zero = static_cast<double>(stats.zero_count);
  return out;
}

/// The spread of one column over the rows.
double ColumnSpread(const float* values, std::size_t rows, std::size_t columns,
                    std::size_t column) {
  double sum = 0, squares = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const double value = static_cast<double>(values[row * columns + column]);
    sum += value;
    squares += value * value;
  }
  const double count = static_cast<double>(rows);
  return std::sqrt(std::max(0.0, squares / count - sum / count * (sum / count)));
}

bool RowsSumToOne(const ws_loss_call& call) {
  for (std::size_t row = 0; row < call.rows; ++row) {
    double sum = 0;
    for (std::size_t column = 0; column < call.columns; ++column) {
      const float value = call.outputs[row * call.columns + column];
      if (!(value >= 0 && value <= 1)) {
        return false;
      }
      sum += static_cast<double>(value);
    }
    if (std::abs(sum - 1) > 1e-3) {
      return false;
    }
  }
  return true;
}

}  // namespace

extern "C" {

void ws_model(ws_run* run, const char* name, const char* activations, int64_t parameters,
              int64_t trainable) {
  const ws_attribute facts[] = {Text("name", name), Text("activations", activations),
                                Number("parameters", static_cast<double>(parameters)),
                                Number("trainable", static_cast<double>(trainable))};
  ws_note(run, "model", -1, facts, std::size(facts));
}

void ws_optimizer(ws_run* run, const char* name, double lr, double momentum, double weight_decay) {
  const ws_attribute facts[] = {Text("name", name), Number("lr", lr), Number("momentum", momentum),
                                Number("weight_decay", weight_decay)};
  ws_note(run, "optimizer", -1, facts, std::size(facts));
}

void ws_calls(ws_run* run, int64_t steps, int64_t backwards, int64_t zero_grads) {
  const ws_attribute facts[] = {Number("steps", static_cast<double>(steps)),
                                Number("backwards", static_cast<double>(backwards)),
                                Number("zero_grads", static_cast<double>(zero_grads)),
                                Number("loss_calls", static_cast<double>(backwards))};
  ws_note(run, "counts", -1, facts, std::size(facts));
}

void ws_labels(ws_run* run, const int32_t* labels, size_t count) {
  if (ws_alive(run) == 0 || labels == nullptr || count == 0) {
    return;
  }
  std::size_t counts[kClassesMax] = {};
  std::int32_t highest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (labels[i] >= 0 && labels[i] < kClassesMax) {
      ++counts[labels[i]];
      highest = std::max(highest, labels[i]);
    }
  }
  char text[16 * kClassesMax];
  std::size_t used = 0, most = 0, classes = 0;
  for (std::int32_t label = 0; label <= highest; ++label) {
    most = std::max(most, counts[label]);
    classes += counts[label] > 0 ? 1 : 0;
    used += static_cast<std::size_t>(std::snprintf(text + used, sizeof(text) - used, "%s%d:%zu",
                                                   used == 0 ? "" : ",", label, counts[label]));
    used = std::min(used, sizeof(text) - 1);
  }
  const ws_attribute facts[] = {
      Number("samples", static_cast<double>(count)),
      Number("classes", static_cast<double>(classes)), Number("max", highest), Text("counts", text),
      Number("majority", static_cast<double>(most) / static_cast<double>(count))};
  ws_note(run, "labels", -1, facts, std::size(facts));
}

void ws_inputs(ws_run* run, int64_t step, const float* values, size_t rows, size_t columns) {
  if (ws_alive(run) == 0 || values == nullptr || rows == 0 || columns == 0) {
    return;
  }
  const Moments all = MomentsOf(values, rows * columns);
  double narrow = INFINITY, wide = 0;
  for (std::size_t column = 0; column < std::min(columns, kColumnsMax); ++column) {
    const double spread = ColumnSpread(values, rows, columns, column);
    narrow = std::min(narrow, spread);
    wide = std::max(wide, spread);
  }
  const Shape shape(rows, columns);
  const ws_attribute facts[] = {Text("module", "input"),
                                Text("shape", shape.text),
                                Text("dtype", "float32"),
                                Number("mean", all.mean),
                                Number("std", all.std),
                                Number("min", all.min),
                                Number("max", all.max),
                                Number("nan", all.nan),
                                Number("inf", all.inf),
                                Number("zero", all.zero),
                                Number("count", static_cast<double>(rows * columns)),
                                Number("column_std_min", narrow),
                                Number("column_std_max", wide)};
  ws_note(run, "model-input", step, facts, std::size(facts));
}

void ws_activations(ws_run* run, int64_t step, const char* layer, const char* type,
                    const float* values, size_t rows, size_t units) {
  if (ws_alive(run) == 0 || values == nullptr || type == nullptr || rows == 0 || units == 0) {
    return;
  }
  const std::string_view name = type;
  const bool rectifier = name == "ReLU";
  const bool sigmoid = name == "Sigmoid";
  if (!rectifier && !sigmoid && name != "Tanh") {
    return;  // Where another one is flat is not known.
  }
  std::size_t dead = 0, pinned = 0;
  for (std::size_t unit = 0; unit < units; ++unit) {
    bool fired = false;
    for (std::size_t row = 0; row < rows; ++row) {
      const float value = values[row * units + unit];
      fired = fired || value != 0;
      const bool at_end =
          sigmoid ? value < kSigmoidEdge || value > 1 - kSigmoidEdge : std::abs(value) > kTanhEdge;
      pinned += at_end ? 1 : 0;
    }
    dead += fired ? 0 : 1;
  }
  const double samples = static_cast<double>(rows), all = static_cast<double>(units);
  const ws_attribute facts[] = {
      Text("module", layer),
      Text("type", type),
      Text("side", "output"),
      Number("samples", samples),
      rectifier ? Number("units", all)
                : Number("saturated", static_cast<double>(pinned) / (samples * all)),
      Number(rectifier ? "dead" : "values", rectifier ? static_cast<double>(dead) : samples * all)};
  ws_note(run, "activation", step, facts, std::size(facts));
}

void ws_loss(ws_run* run, int64_t step, const ws_loss_call* call) {
  if (ws_alive(run) == 0 || call == nullptr || call->function == nullptr ||
      call->outputs == nullptr || call->targets == nullptr || call->rows == 0 ||
      call->columns == 0) {
    return;
  }
  const bool classes = std::string_view(call->function) == "cross_entropy";
  const Moments out = MomentsOf(call->outputs, call->rows * call->columns);
  const Moments target =
      MomentsOf(call->targets, classes ? call->rows : call->rows * call->columns);
  double spread = 0;
  for (std::size_t column = 0; column < std::min(call->columns, kColumnsMax); ++column) {
    spread += ColumnSpread(call->outputs, call->rows, call->columns, column) /
              static_cast<double>(std::min(call->columns, kColumnsMax));
  }
  const Shape outputs(call->rows, call->columns);
  const Shape labels(call->rows);
  const ws_attribute facts[] = {
      Text("function", call->function),
      Number("call", static_cast<double>(call->call)),
      Text("input_shape", outputs.text),
      Text("target_shape", classes ? labels.text : outputs.text),
      Text("input_dtype", "float32"),
      Text("target_dtype", classes ? "int64" : "float32"),
      Number("grad_enabled", 1),
      Number("input_mean", out.mean),
      Number("input_std", out.std),
      Number("input_min", out.min),
      Number("input_max", out.max),
      Number("target_mean", target.mean),
      Number("target_std", target.std),
      Number("target_min", target.min),
      Number("target_max", target.max),
      Number("rows_std_mean", spread),
      Number("sums_to_one", classes && RowsSumToOne(*call) ? 1 : 0),
      Number("classes", classes ? static_cast<double>(call->columns) : 0)};
  ws_note(run, "loss-call", step, facts, std::size(facts) - (classes ? 0 : 2));
}

void ws_not_finite(ws_run* run, int64_t step, const char* first) {
  const ws_attribute facts[] = {Text("first", first)};
  ws_note(run, "nonfinite", step, facts, std::size(facts));
}

void ws_stop(ws_run* run, const char* file, int line, const char* condition, const char* values) {
  const ws_attribute facts[] = {Text("how", "break"),   Text("file", file),
                                Number("line", line),   Text("condition", condition),
                                Text("values", values), Text("role", "epochs"),
                                Number("level", 0),     Number("levels", 1)};
  ws_note(run, "loop-exit", -1, facts, std::size(facts));
}

}  // extern "C"

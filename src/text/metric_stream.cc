#include "text/metric_stream.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/shown_text.h"
#include "text/terminal_text.h"

namespace whystop {
namespace {

constexpr int kChangesToTrust = 2;

/// Times, rates and sizes: no part of how well a model learns.
bool IsBookkeeping(std::string_view key) {
  static constexpr std::array<std::string_view, 20> kKeys = {
      "eta",  "time", "data_time", "memory",  "max_mem",  "elapsed",   "ETA",
      "wps",  "ups",  "wpb",       "bsz",     "Data (t)", "Batch (t)", "train_wall",
      "wall", "sec",  "secs",      "gb_free", "v_num",    "Rank"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

std::uint64_t ShapeOf(const MetricLine& line) {
  std::uint64_t hash = line.validation ? 0x9E3779B97F4A7C15ULL : 0xCBF29CE484222325ULL;
  for (const MetricValue& value : line.values) {
    for (const char letter : value.key) {
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    }
    hash = (hash ^ 0xFF) * 0x100000001B3ULL;
  }
  return hash;
}

bool IsHeldOutWord(std::string_view key) {
  return key == "val" || key == "valid" || key == "test" || key == "dev";
}

/// Names of the data alone, beside a score that has a name of its own.
bool HoldsBareLosses(const MetricLine& line) {
  const auto holds = [&line](auto matches) {
    return std::any_of(line.values.begin(), line.values.end(), [&](const MetricValue& value) { return matches(value.key); });
  };
  return holds([](std::string_view key) { return key == "train"; }) && holds(&IsHeldOutWord) &&
         holds([](std::string_view key) {
           const SeriesRole role = RoleOfSeries(key);
           return role == SeriesRole::kTrainScore || role == SeriesRole::kValidationScore;
         });
}

}  // namespace

const MetricStream::Name* MetricStream::NameOf(std::string_view key, bool validation) {
  const Names& names = validation ? held_out_names_ : names_;
  const auto found = names.find(key);
  return found != names.end() ? &found->second : AddName(key, validation);
}

void MetricStream::UpdateRoles() {
  for (Names* names : {&names_, &held_out_names_}) {
    for (auto& [known, other] : *names) {
      other.role = RoleOf(other.series);
    }
  }
}

SeriesRole MetricStream::RoleOf(std::string_view series) {
  if (bare_losses_ && series == "train") {
    return SeriesRole::kTrainLoss;
  }
  return bare_losses_ && IsHeldOutWord(series) ? SeriesRole::kValidationLoss : roles_.Of(series);
}

const MetricStream::Name* MetricStream::AddName(std::string_view key, bool validation) {
  if (names_.size() + held_out_names_.size() >= kKeysMax) {
    return nullptr;
  }
  Name name{
      .series = ShownText(key, 128), .role = RoleOf(key), .bookkeeping = IsBookkeeping(key)};
  if (validation && (name.role == SeriesRole::kTrainLoss || name.role == SeriesRole::kTrainScore)) {
    name.series = "val " + name.series;
    name.role = RoleOf(name.series);
  }
  UpdateRoles();  // A new total makes parts of what were losses before.
  return &(validation ? held_out_names_ : names_)
              .emplace(std::string(key), std::move(name))
              .first->second;
}

bool MetricStream::IsLive(const MetricLine& line, std::uint64_t hash, std::int64_t number,
                          Shape*& shape) {
  shape = nullptr;
  if (line.has_counter()) {
    return true;
  }
  if (shapes_.size() >= kShapesMax && !shapes_.contains(hash)) {
    std::erase_if(shapes_, [](const auto& entry) { return !entry.second.live; });
    if (shapes_.size() >= kShapesMax) {
      return false;
    }
  }
  shape = &shapes_[hash];
  if (shape->live) {
    return true;
  }
  std::vector<double> values;
  for (const MetricValue& value : line.values) {
    values.push_back(value.value);
  }
  ++shape->seen;
  shape->changes += !shape->last.empty() && shape->last != values ? 1 : 0;
  shape->last = values;
  shape->live = shape->changes >= kChangesToTrust;
  if (!shape->live && shape->held.size() < 4) {
    shape->held.push_back({.values = std::move(values), .line = number});
  }
  return shape->live;
}

void MetricStream::FindNames(const MetricLine& line, KnownNames& out) {
  out.names.clear();
  if (!bare_losses_ && HoldsBareLosses(line)) {
    bare_losses_ = true;
    UpdateRoles();
  }
  for (const MetricValue& value : line.values) {
    out.names.push_back(NameOf(value.key, line.validation));
  }
  out.shape = ShapeOf(line);
}

void MetricStream::Push(const MetricLine& line, std::int64_t number, std::vector<Point>& out,
                        KnownNames* known_names) {
  KnownNames& all = known_names != nullptr ? *known_names : scratch_;
  if (known_names == nullptr || all.names.size() != line.values.size()) {
    FindNames(line, all);  // All names of a line before any role is asked for.
  }
  line_names_ = &all.names;
  if (!line.values.empty() && line.values.front().key == "train_runtime") {
    return;  // The Trainer's closing summary: its train_loss is a mean over the whole run.
  }
  // Without a counter only losses and scores are believed: configurations list rates as well.
  const bool known = std::any_of(all.names.begin(), all.names.end(), [&line](const Name* name) {
    return name != nullptr && name->role != SeriesRole::kOther &&
           (line.has_counter() ||
            (name->role != SeriesRole::kLearningRate && name->role != SeriesRole::kLossScale));
  });
  Shape* shape = nullptr;
  if (!known || !IsLive(line, all.shape, number, shape)) {
    return;
  }
  if (line.in_progress) {
    const bool finite =
        std::all_of(line.values.begin(), line.values.end(),
                    [](const MetricValue& value) { return std::isfinite(value.value); });
    if (finite) {
      return;  // A running mean that the full bar will show again.
    }
  }
  if (shape != nullptr) {
    for (const Shape::Held& held : shape->held) {
      Emit(line, &held.values, held.line, out);
    }
    shape->held.clear();
  }
  Emit(line, nullptr, number, out);
}

void MetricStream::Emit(const MetricLine& line, const std::vector<double>* values,
                        std::int64_t number, std::vector<Point>& out) {
  for (std::size_t at = 0; at < line.values.size(); ++at) {
    const Name* name = (*line_names_)[at];
    if (name == nullptr || (name->role == SeriesRole::kOther && name->bookkeeping)) {
      continue;
    }
    out.push_back({.series = name->series,
                   .role = name->role,
                   .value = values == nullptr ? line.values[at].value : (*values)[at],
                   .line = number});
    const bool training = name->role == SeriesRole::kTrainLoss ||
                          name->role == SeriesRole::kTrainScore ||
                          name->role == SeriesRole::kLossPart;  // All that a GAN or a policy has.
    training_points_ += training ? 1 : 0;
  }
}

void MetricStream::Reset() { training_points_ = 0; }

}  // namespace whystop

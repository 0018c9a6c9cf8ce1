#include "detect/case_script.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <random>
#include <utility>

#include "base/parse.h"
#include "model/observation_schema.h"

namespace whystop {
namespace {

constexpr std::int64_t kPointsMax = 100'000;

struct Line {
  std::string word;                // "series"
  std::vector<std::string> names;  // Words without "=".
  std::map<std::string, std::string> values;

  std::string Text(const std::string& key, std::string fallback = {}) const {
    const auto found = values.find(key);
    return found == values.end() ? fallback : found->second;
  }
  double Number(const std::string& key, double fallback) const {
    return ParseWhole<double>(Text(key)).value_or(fallback);
  }
};

/// Splits at blanks; a value may stand in double quotes.
Line SplitLine(std::string_view text) {
  Line line;
  while (!(text = Trim(text)).empty()) {
    std::string word;
    bool quoted = false;
    std::size_t used = 0;
    for (; used < text.size() && (quoted || text[used] != ' '); ++used) {
      if (text[used] == '"') {
        quoted = !quoted;
      } else {
        word += text[used];
      }
    }
    text.remove_prefix(used);
    const std::size_t equals = word.find('=');
    if (line.word.empty()) {
      line.word = word;
    } else if (equals == std::string::npos) {
      line.names.push_back(word);
    } else {
      line.values[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  return line;
}

struct Range {
  std::int64_t from = 0;
  std::int64_t to = 0;
  std::int64_t every = 1;
};

std::optional<Range> ReadRange(const Line& line) {
  const std::string text = line.Text("steps", "0");
  const std::size_t dots = text.find("..");
  const auto from = ParseWhole<std::int64_t>(std::string_view(text).substr(0, dots));
  const auto to = dots == std::string::npos
                      ? from
                      : ParseWhole<std::int64_t>(std::string_view(text).substr(dots + 2));
  Range range{from.value_or(0), to.value_or(-1),
              static_cast<std::int64_t>(line.Number("every", 1))};
  if (!from || !to || range.to < range.from || range.every < 1 ||
      (range.to - range.from) / range.every > kPointsMax) {
    return std::nullopt;
  }
  return range;
}

/// The value at `x`, which runs from 0 to 1 over the line's steps.
double ShapeValue(const Line& line, double x, std::int64_t step) {
  const std::string shape = line.Text("shape", "line");
  const double from = line.Number("from", line.Number("value", 0));
  const double to = line.Number("to", from);
  if (shape == "decay") {
    return to + (from - to) * std::exp(-x * line.Number("speed", 5));
  }
  if (shape == "growth") {
    return from * std::pow(to / from, x);
  }
  if (shape == "sine") {
    return from +
           line.Number("amplitude", 1) * std::sin(2 * std::numbers::pi * static_cast<double>(step) /
                                                  line.Number("period", 20));
  }
  return from + (to - from) * x;
}

/// Calls `add(step, value)` for each point of the line.
template <typename Add>
bool ForEachPoint(const Line& line, Add add) {
  const auto range = ReadRange(line);
  if (!range) {
    return false;
  }
  std::mt19937_64 random(static_cast<std::uint64_t>(line.Number("seed", 1)));
  std::normal_distribution<double> normal(0, 1);
  const double span = static_cast<double>(std::max<std::int64_t>(range->to - range->from, 1));
  for (std::int64_t step = range->from; step <= range->to; step += range->every) {
    double value = ShapeValue(line, static_cast<double>(step - range->from) / span, step);
    value += normal(random) *
             (line.Number("noise", 0) + std::abs(value) * line.Number("relative_noise", 0));
    const double digits = line.Number("digits", 0);
    if (digits > 0) {
      value = std::round(value * std::pow(10, digits)) / std::pow(10, digits);
    }
    add(step, value);
  }
  return true;
}

RunTime At(double seconds) { return RunTime(static_cast<std::int64_t>(seconds * 1e9)); }

std::optional<SeriesRole> RoleByWord(const std::string& word) {
  constexpr std::pair<std::string_view, SeriesRole> kRoles[] = {
      {"train-loss", SeriesRole::kTrainLoss}, {"validation-loss", SeriesRole::kValidationLoss},
      {"lr", SeriesRole::kLearningRate},      {"gradient-norm", SeriesRole::kGradientNorm},
      {"loss-scale", SeriesRole::kLossScale}, {"train-score", SeriesRole::kTrainScore},
      {"loss-part", SeriesRole::kLossPart},   {"validation-score", SeriesRole::kValidationScore},
      {"other", SeriesRole::kOther},
  };
  for (const auto& [name, role] : kRoles) {
    if (name == word) {
      return role;
    }
  }
  return std::nullopt;
}

bool AddSeries(const Line& line, std::vector<Event>& out) {
  if (line.names.empty()) {
    return false;
  }
  const auto role = RoleByWord(line.Text("role", "train-loss"));
  return role && ForEachPoint(line, [&](std::int64_t step, double value) {
    Scalar scalar;
    scalar.series = line.names[0];
    scalar.role = *role;
    scalar.value = value;
    scalar.step = step;
    out.push_back({At(static_cast<double>(step)), scalar});
  });
}

/// tensor gradient fc1.weight steps=.. from=RMS to=RMS count=1000 zeros=0.9 nan=3
bool AddTensor(const Line& line, std::vector<Event>& out) {
  using What = TensorStats::What;
  constexpr std::pair<std::string_view, What> kWhats[] = {
      {"weight", What::kWeight},         {"gradient", What::kGradient}, {"update", What::kUpdate},
      {"input", What::kInput},           {"target", What::kTarget},     {"output", What::kOutput},
      {"activation", What::kActivation},
  };
  const auto what = line.names.size() < 2
                        ? std::end(kWhats)
                        : std::find_if(std::begin(kWhats), std::end(kWhats), [&](const auto& pair) {
                            return pair.first == line.names[0];
                          });
  if (what == std::end(kWhats)) {
    return false;
  }
  return ForEachPoint(line, [&](std::int64_t step, double rms) {
    TensorStats stats;
    stats.what = what->second;
    stats.tensor = line.names[1];
    stats.step = step;
    stats.count = static_cast<std::uint64_t>(line.Number("count", 1000));
    stats.nan_count = static_cast<std::uint64_t>(line.Number("nan", 0));
    stats.inf_count = static_cast<std::uint64_t>(line.Number("inf", 0));
    stats.zero_count =
        static_cast<std::uint64_t>(line.Number("zeros", 0) * static_cast<double>(stats.count));
    const auto count = static_cast<double>(stats.count);
    const double mean = line.Number("mean", 0);
    stats.sum = mean * count;
    stats.sum_squares = (rms * rms + mean * mean) * count;
    stats.abs_max = line.Number("abs_max", 3 * rms + std::abs(mean));
    stats.min = line.Number("min", mean - 3 * rms);
    stats.max = line.Number("max", mean + 3 * rms);
    out.push_back({At(static_cast<double>(step)), stats});
  });
}

/// sample host mem_available_bytes... : sample SUBJECT QUANTITY steps=.. from=.. to=.. (a step is a
/// second)
bool AddSample(const Line& line, std::vector<Event>& out) {
  using Kind = Subject::Kind;
  constexpr std::pair<std::string_view, Kind> kSubjects[] = {{"host", Kind::kHost},
                                                             {"tree", Kind::kTree},
                                                             {"process", Kind::kProcess},
                                                             {"cgroup", Kind::kCgroup},
                                                             {"gpu", Kind::kGpu}};
  if (line.names.size() < 2) {
    return false;
  }
  std::optional<Quantity> quantity;
  for (std::uint16_t number = 0; number < 256; ++number) {
    const QuantityInfo* info = FindQuantity(static_cast<Quantity>(number));
    if (info != nullptr && info->name == line.names[1]) {
      quantity = info->quantity;
    }
  }
  for (SubjectId id = 0; id < std::size(kSubjects); ++id) {
    if (kSubjects[id].first == line.names[0] && quantity) {
      out.push_back({RunTime{}, SubjectSeen{id + 1, {kSubjects[id].second, line.names[0], 0}}});
      return ForEachPoint(line, [&](std::int64_t step, double value) {
        out.push_back({At(static_cast<double>(step)),
                       Sample{{{id + 1, *quantity, static_cast<std::int64_t>(value)}}}});
      });
    }
  }
  return false;
}

bool IsText(std::string_view kind, std::string_view name) {
  const ObservationKind* known = FindObservationKind(kind);
  return known != nullptr &&
         std::any_of(known->attributes.begin(), known->attributes.end(),
                     [name](const ObservationAttribute& attribute) {
                       return attribute.name == name && attribute.type == ObservationType::kText;
                     });
}

/// observe KIND steps=N key=value ...; "steps=A..B" repeats it; ".steps=5" is an attribute of that
/// name.
bool AddObservation(const Line& line, std::vector<Event>& out) {
  if (line.names.empty()) {
    return false;
  }
  return ForEachPoint(line, [&](std::int64_t step, double) {
    Observation observation;
    observation.kind = line.names[0];
    observation.step = step;
    for (const auto& [key, text] : line.values) {
      if (key == "steps" || key == "every") {
        continue;
      }
      const std::string name = key.starts_with('.') ? key.substr(1) : key;
      const auto number = IsText(observation.kind, name) ? std::nullopt : ParseWhole<double>(text);
      observation.attributes[name] =
          number ? Observation::Value(*number) : Observation::Value(text);
    }
    out.push_back({At(static_cast<double>(step)), observation});
  });
}

bool AddProgress(const Line& line, std::vector<Event>& out) {
  Progress progress;
  progress.epoch = ParseWhole<double>(line.Text("epoch"));
  progress.epochs_planned = ParseWhole<double>(line.Text("epochs_planned"));
  progress.step = ParseWhole<std::int64_t>(line.Text("step"));
  progress.steps_planned = ParseWhole<std::int64_t>(line.Text("steps_planned"));
  out.push_back(
      {At(line.Number("at", progress.step ? static_cast<double>(*progress.step) : 0)), progress});
  return true;
}

/// exception TYPE at=SECONDS message="..." function=NAME: the one that ended the program, raised in
/// a function of the user's own.
bool AddException(const Line& line, std::vector<Event>& out) {
  if (line.names.empty()) {
    return false;
  }
  ExceptionSeen seen;
  seen.type = line.names[0];
  seen.message = line.Text("message");
  seen.ended_process = true;
  seen.frames.push_back({"/home/user/train.py", 20, line.Text("function", "<module>"), "", true});
  out.push_back({At(line.Number("at", 1000)), seen});
  return true;
}

/// log CAUSE at=SECONDS text="...": a line that the signature table knows as the root of that
/// cause.
bool AddLogLine(const Line& line, std::vector<Event>& out) {
  if (line.names.empty()) {
    return false;
  }
  LogFact fact;
  fact.cause = line.names[0];
  fact.role =
      line.Text("role", "root") == "context" ? LogFact::Role::kContext : LogFact::Role::kRoot;
  fact.line = line.Text("text");
  out.push_back({At(line.Number("at", 1000)), fact});
  return true;
}

bool AddLine(const Line& line, CaseScript& script) {
  if (line.word == "series") {
    return AddSeries(line, script.events);
  }
  if (line.word == "tensor") {
    return AddTensor(line, script.events);
  }
  if (line.word == "sample") {
    return AddSample(line, script.events);
  }
  if (line.word == "observe") {
    return AddObservation(line, script.events);
  }
  if (line.word == "progress") {
    return AddProgress(line, script.events);
  }
  if (line.word == "exception") {
    return AddException(line, script.events);
  }
  if (line.word == "log") {
    return AddLogLine(line, script.events);
  }
  if (line.word == "end") {
    const auto code = ParseWhole<int>(line.Text("exit", "0"));
    script.events.push_back(
        {RunTime::max(), RunEnd{ChildEnd::Exited(code.value_or(0)), std::nullopt}});
    return code.has_value();
  }
  if (line.word == "expect" && !line.names.empty()) {
    script.expectations.push_back({line.names[0], line.values});
    return true;
  }
  return false;
}

}  // namespace

namespace {

Error LineError(int number, std::string what, std::string way_out) {
  return Error{Error::Code::kCorrupt, "line " + std::to_string(number) + ": " + std::move(what),
               std::move(way_out)};
}

/// What is wrong with the observation that the line made, if it made one.
std::string ObservationFault(const CaseScript& script) {
  const auto* seen = script.events.empty() ? nullptr : script.events.back().As<Observation>();
  return seen == nullptr ? "" : SchemaFault(*seen);
}

}  // namespace

Result<CaseScript> ReadCaseScript(std::string_view text) {
  CaseScript script;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = Trim(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    ++number;
    if (line.starts_with('#')) {
      script.title = script.title.empty() ? std::string(Trim(line.substr(1))) : script.title;
      continue;
    }
    if (!line.empty() && !AddLine(SplitLine(line), script)) {
      return LineError(number, "cannot read '" + std::string(line) + "'",
                       "see docs/cases.md for the lines of a .case file");
    }
    if (const std::string fault = ObservationFault(script); !fault.empty()) {
      return LineError(number, fault,
                       "the names are in src/model/observations.tsv; a new one is added there");
    }
  }
  std::stable_sort(script.events.begin(), script.events.end(),
                   [](const Event& left, const Event& right) { return left.at < right.at; });
  return script;
}

}  // namespace whystop

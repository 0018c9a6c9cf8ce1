#include "import/trainer_state/trainer_state_reader.h"

#include <fmt/core.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/parse.h"
#include "import/json_walk.h"
#include "import/metric_rows.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

struct FactName {
  std::string_view path_end;  // Of the value's path in the file.
  std::string_view attribute;
};

// stateful_callbacks/EarlyStoppingCallback/args/early_stopping_patience and the like: the end of
// the path is enough.
constexpr FactName kFacts[] = {
    {"global_step", "global_step"},
    {"max_steps", "max_steps"},
    {"epoch", "epoch"},
    {"num_train_epochs", "num_train_epochs"},
    {"best_metric", "best_metric"},
    {"best_global_step", "best_step"},
    {"eval_steps", "eval_steps"},
    {"args/early_stopping_patience", "early_stopping_patience"},
    {"attributes/early_stopping_patience_counter", "early_stopping_counter"},
    {"args/should_training_stop", "should_training_stop"},
};

std::string_view AttributeOf(std::string_view path) {
  for (const FactName& fact : kFacts) {
    const bool nested = fact.path_end.find('/') != std::string_view::npos;
    if (path == fact.path_end || (nested && path.ends_with(fact.path_end))) {
      return fact.attribute;
    }
  }
  return {};
}

class StateVisitor final : public JsonVisitor {
 public:
  explicit StateVisitor(SeriesLog& log) : log_(log), rows_(log) {}

  void OnRow(const std::string& path, const JsonRow& row) override {
    if (path != "log_history") {
      return;
    }
    if (row.Number("train_runtime") != nullptr) {  // Means over the whole run, not points of it.
      Observation summary;
      summary.kind = kTrainerSummary;
      for (const auto& [name, value] : row.numbers()) {
        summary.attributes.emplace(name, value);
      }
      summary_ = std::move(summary);
      return;
    }
    rows_.Take(row, RowPosition{});
  }
  void OnElement(const std::string&, std::int64_t, double) override {}
  void OnFact(const std::string& path, double value) override {
    if (const std::string_view attribute = AttributeOf(path); !attribute.empty()) {
      state_.attributes.insert_or_assign(std::string(attribute), value);
    }
  }
  void OnFactText(const std::string& path, std::string_view value) override {
    if (path != "best_model_checkpoint") {
      return;
    }
    const std::size_t dash = value.rfind("checkpoint-");
    if (dash != std::string_view::npos) {
      if (const auto step = ParseWhole<std::int64_t>(value.substr(dash + 11))) {
        state_.attributes.emplace("best_step", static_cast<double>(*step));
      }
    }
  }

  void Finish(JsonEnd end);

 private:
  void PushFact(const std::string& cause, std::string line) {
    LogFact fact;
    fact.cause = cause;
    fact.role = LogFact::Role::kNormal;
    fact.line = std::move(line);
    fact.place.file = log_.file();
    log_.Emit(std::move(fact));
  }
  void PushPlan();
  void PushHowItEnded(JsonEnd end);

  SeriesLog& log_;
  MetricRows rows_;
  Observation state_;
  std::optional<Observation> summary_;
};

void StateVisitor::PushPlan() {
  const auto steps = state_.Number("max_steps");
  log_.SetPlan(steps && *steps > 0 ? WholeNumber(*steps) : std::nullopt,
               state_.Number("num_train_epochs"));
  RowPosition position;
  const auto step = state_.Number("global_step");
  position.step = step ? WholeNumber(*step) : std::nullopt;
  position.epoch = state_.Number("epoch");
  log_.BeginRow(position);
}

void StateVisitor::PushHowItEnded(JsonEnd end) {
  const double done = state_.Number("global_step").value_or(-1);
  const double planned = state_.Number("max_steps").value_or(0);
  const bool all_steps = planned > 0 && done >= planned;
  const double patience = state_.Number("early_stopping_patience").value_or(0);
  const double counter = state_.Number("early_stopping_counter").value_or(0);
  const bool gave_up = patience > 0 && counter >= patience && !all_steps;
  if (gave_up) {
    PushFact(
        "early-stop-patience",
        fmt::format("EarlyStoppingCallback: {:.0f} checks without improvement, patience {:.0f}",
                    counter, patience));
  } else if (all_steps) {
    PushFact("finished-epochs",
             fmt::format("global_step {:.0f} of max_steps {:.0f}", done, planned));
  }
  TextEnd text_end;
  text_end.place.file = log_.file();
  text_end.last_line = fmt::format("global_step {:.0f} of max_steps {:.0f}", done, planned);
  text_end.kind = end != JsonEnd::kWhole             ? TextEnd::Kind::kMidLine
                  : all_steps || gave_up || summary_ ? TextEnd::Kind::kCompleted
                                                     : TextEnd::Kind::kSilent;
  log_.Emit(std::move(text_end));
}

void StateVisitor::Finish(JsonEnd end) {
  if (end == JsonEnd::kBroken) {
    log_.Dropped("import.json_broken");
  }
  if (!state_.attributes.empty()) {
    PushPlan();
    const auto stop = state_.Number("should_training_stop");
    const bool mid_run = !summary_ && state_.Number("global_step") < state_.Number("max_steps") &&
                         stop.value_or(0) == 0;
    Observation state = state_;
    state.kind = kTrainerState;
    state.attributes.emplace("checkpoint", mid_run ? 1.0 : 0.0);
    log_.Observe(std::move(state));
  }
  if (summary_) {
    log_.Observe(*summary_);
  }
  PushHowItEnded(end);
}

}  // namespace

void ReadTrainerState(ByteSource& source, SeriesLog& log) {
  StateVisitor visitor(log);
  visitor.Finish(WalkJson(source, visitor));
}

}  // namespace whystop

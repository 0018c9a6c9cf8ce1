#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "import/loss_sum.h"
#include "model/event.h"
#include "text/countdown.h"
#include "text/series_role.h"

namespace whystop {

/// Where a row of a metric file stands in the run.
struct RowPosition {
  std::optional<std::int64_t> step;
  std::optional<double> epoch;
  RunTime at{};
  std::int64_t line = 0;
};

/// Turns the points of one run's metric file (or of several that follow one another) into events:
/// keeps the series' names and roles, notices when the run's counter goes back, counts what is left
/// out. Bounded: at most kSeriesMax series, one prepared event each. A point costs no allocation.
class SeriesLog {
 public:
  static constexpr std::size_t kSeriesMax = 16384;
  static constexpr std::size_t kNameBytesMax = 512;
  using SeriesIndex = std::uint32_t;

  SeriesLog(std::string file, EventSink& sink) : file_(std::move(file)), sink_(sink) {}

  /// From now on points come from this file.
  void SetFile(std::string file);
  const std::string& file() const { return file_; }

  /// The series of that name, made on first use. Nullopt: too many, counted.
  std::optional<SeriesIndex> Find(std::string_view name);
  SeriesRole role(SeriesIndex series) const { return RoleOf(prepared_[series].event); }

  /// Time since the first wall time given (seconds since 1970), never before it.
  RunTime SinceFirst(double wall_seconds);

  /// To be called before the points of a row that belongs to the training itself. Reports a counter
  /// that went back.
  void BeginRow(const RowPosition& position);
  void Push(SeriesIndex series, double value, const RowPosition& position);

  /// The plan, where the file tells it.
  void SetPlan(std::optional<std::int64_t> steps, std::optional<double> epochs);
  /// How long the run will still take, as it says itself.
  void PushTimeLeft(double seconds) { countdown_.Push(seconds > 0 ? TimeLeft::kSome : TimeLeft::kNone); }
  /// No plan is known, and that came to 0.
  bool CountedDown() const { return countdown_.IsOver() && !steps_planned_ && !epochs_planned_; }
  void Observe(Observation observation, RunTime at = {});
  void Emit(EventBody body, RunTime at = {});
  /// Counts something left out; counters are described in the importers' documents.
  void Dropped(const std::string& counter, std::int64_t count = 1) { drops_[counter] += count; }

  /// Pushes progress, an empty-file observation if so, and the drops.
  void Finish();

  std::uint64_t points() const { return points_; }

 private:
  /// A series and the event that is pushed for its next point.
  struct Series {
    Event event;
    bool is_term = false;      // Of a loss.
    bool is_held_out = false;  // A term of the validation loss.
    bool is_sum = false;
  };
  /// The terms of one loss, the place of the row that is being added up, and the series of the sum.
  struct Terms {
    LossSum sum;
    RowPosition position;
    std::optional<SeriesIndex> series;
  };
  static SeriesRole RoleOf(const Event& prepared) { return std::get<Scalar>(prepared.body).role; }
  SeriesIndex Add(Scalar scalar);
  std::array<bool, 4> LossKnowledge() const;  // What the roles of losses hang on.
  void AssignLossRoles();
  void AddTerm(const Series& series, double value, const RowPosition& position);
  void PushSum(Terms& terms, bool held_out);
  void PushProgress();
  void ReportStepBack(const std::string& counter, double from, double to, double first);

  std::string file_;
  EventSink& sink_;
  SeriesRoles roles_;
  std::vector<Series> prepared_;
  Terms train_terms_;
  Terms held_out_terms_;
  std::unordered_map<std::string, SeriesIndex> index_;
  std::map<std::string, std::int64_t> drops_;
  std::optional<std::int64_t> first_step_;
  std::optional<std::int64_t> last_step_;
  std::optional<double> first_epoch_;
  std::optional<double> last_epoch_;
  bool epochs_are_whole_ = true;
  Countdown countdown_;
  std::optional<std::int64_t> steps_planned_;
  std::optional<double> epochs_planned_;
  std::optional<double> first_wall_seconds_;
  RunTime last_at_{};
  std::uint64_t points_ = 0;
};

}  // namespace whystop

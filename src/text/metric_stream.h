#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/event.h"
#include "text/metric_line.h"
#include "text/series_role.h"

namespace whystop {

/// Decides which numbers of a log are points of a training series. A line with a counter ("epoch 3,
/// loss 0.2") is one at once; any other shape with a known name must come back with changing
/// numbers first, since configurations and summaries name losses and rates as well. Bounded:
/// kShapesMax shapes, kKeysMax names.
class MetricStream {
 public:
  static constexpr std::size_t kShapesMax = 256;
  static constexpr std::size_t kKeysMax = 512;

  struct Point {
    std::string_view series;
    SeriesRole role = SeriesRole::kOther;
    double value = 0;
    std::int64_t line = 0;
  };

  struct Name {
    std::string series;
    SeriesRole role = SeriesRole::kOther;
    bool bookkeeping = false;  // A time, rate or size: no part of how well a model learns.
  };
  /// What was found out about lines with the same names in the same order, for the next one of
  /// them.
  struct KnownNames {
    std::vector<const Name*> names;
    std::uint64_t shape = 0;
  };

  /// Appends the points of a line to `out`. Their names stay valid until the next call of Push or
  /// Reset.
  void Push(const MetricLine& line, std::int64_t number, std::vector<Point>& out,
            KnownNames* known = nullptr);
  void Reset();
  /// Training points seen since the last Reset.
  std::int64_t training_points() const { return training_points_; }

 private:
  struct Shape {
    int seen = 0;
    int changes = 0;
    bool live = false;
    std::vector<double> last;
    struct Held {
      std::vector<double> values;
      std::int64_t line = 0;
    };
    std::vector<Held> held;  // Until the shape is trusted.
  };
  struct KeyHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>()(key);
    }
  };
  using Names = std::unordered_map<std::string, Name, KeyHash, std::equal_to<>>;

  const Name* NameOf(std::string_view key, bool validation);
  const Name* AddName(std::string_view key, bool validation);
  void FindNames(const MetricLine& line, KnownNames& out);
  SeriesRole RoleOf(std::string_view series);
  void UpdateRoles();
  bool IsLive(const MetricLine& line, std::uint64_t hash, std::int64_t number, Shape*& shape);
  void Emit(const MetricLine& line, const std::vector<double>* values, std::int64_t number,
            std::vector<Point>& out);

  std::unordered_map<std::uint64_t, Shape> shapes_;
  Names names_;           // By key.
  Names held_out_names_;  // By key of lines about held-out data.
  KnownNames scratch_;
  const std::vector<const Name*>* line_names_ =
      nullptr;  // Of the line at hand; an entry is nullptr if there are too many names already.
  SeriesRoles roles_;
  bool bare_losses_ = false;  // "train 0.31 val 0.42 acc 0.87": what has no other name is the loss.
  std::int64_t training_points_ = 0;
};

}  // namespace whystop

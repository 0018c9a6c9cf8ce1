#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/bar.h"
#include "text/metric_line.h"
#include "text/metric_stream.h"
#include "text/prefix.h"

namespace whystop {

/// Where the numbers of a line stand and what each means, learned from one line for all of its
/// shape.
class MetricPlan {
 public:
  /// False: the meaning hangs on the numbers themselves; read such lines anew.
  bool Learn(std::string_view text);
  /// What LexMetricLine would make of `text`, a line of the same shape. Nullopt: ask that instead.
  std::optional<bool> Read(std::string_view text, MetricLine& out) const;
  /// The names of the values, for MetricStream; nullptr if they have digits in them.
  MetricStream::KnownNames* names() const { return fixed_names_ ? &names_ : nullptr; }

 private:
  struct Number {
    std::uint32_t at = 0;
    std::uint32_t size = 0;
    std::uint32_t decimals = 0;
    bool decimal = false;  // Digits, point and exponent.
    bool plain = false;    // Digits, at most a sign and a point, exact as a fraction.
  };
  struct Value {
    std::uint32_t key_at = 0;
    std::uint32_t key_size = 0;
    Number number;
  };
  static std::optional<Number> NumberAt(std::string_view text, std::uint32_t at);
  static bool ReadValue(const Number& number, std::string_view text, double& out);
  bool ReadCounters(std::string_view text, MetricLine& out) const;

  bool found_ = false;
  MetricLine line_;  // Its flags; the values are of the line that was learned.
  std::optional<Number> epoch_, epochs_, step_, steps_;
  std::vector<Value> values_;
  bool fixed_names_ = true;
  mutable MetricStream::KnownNames names_;
};

/// What LogReader's pure functions say about all lines of one shape.
class LinePlan {
 public:
  /// `shape` as MakeShape makes it of `line`. False: such lines must be read one by one.
  bool Learn(std::string_view line, std::string_view shape);

  std::optional<Bar> BarOf(std::string_view line) const;
  PeeledLine Peel(std::string_view line) const;
  /// No signature can stand in such a line.
  bool quiet() const { return quiet_; }
  /// It says of a loss that it is not finite.
  bool guards() const { return guards_; }
  /// It might say how long the run is to go on.
  bool plans() const { return plans_; }
  /// It says how much time is left.
  bool counts_down() const { return counts_down_; }
  /// Of the bar's postfix, or else of the body.
  const MetricPlan& metrics() const { return metrics_; }

 private:
  bool LearnBar(std::string_view line);
  bool LearnText(std::string_view line, std::string_view shape);

  struct Part {
    std::size_t at = 0;
    std::size_t size = 0;
    std::string_view Of(std::string_view line) const { return line.substr(at, size); }
  };
  bool is_bar_ = false;
  Part label_, postfix_, done_, total_;
  bool has_done_ = false;
  bool has_total_ = false;
  std::size_t bar_size_ = 0;
  BarLabel bar_label_;

  PeeledLine peeled_;  // But for the body.
  std::size_t body_at_ = 0;
  bool quiet_ = false;
  bool plans_ = false;
  bool guards_ = false;
  bool counts_down_ = false;
  MetricPlan metrics_;
};

}  // namespace whystop

#pragma once

#include <string_view>

namespace whystop {

/// What a line says of the time that is left: "eta_seconds: 12.5", "eta: 0:00:00", "ETA 0s".
enum class TimeLeft { kNotSaid, kNone, kSome };
TimeLeft ReadTimeLeft(std::string_view body);

/// The time that is left, as the log counts it down. At 0, after more than that, the run has come to its end, unless it
/// begins anew with each epoch.
class Countdown {
 public:
  void Push(TimeLeft left) {
    turned_back_ = turned_back_ || (left == TimeLeft::kSome && at_ == TimeLeft::kNone);
    counted_ = counted_ || left == TimeLeft::kSome;
    at_ = left == TimeLeft::kNotSaid ? at_ : left;
  }
  bool IsOver() const { return counted_ && at_ == TimeLeft::kNone && !turned_back_; }

 private:
  TimeLeft at_ = TimeLeft::kNotSaid;
  bool counted_ = false;
  bool turned_back_ = false;
};

}  // namespace whystop

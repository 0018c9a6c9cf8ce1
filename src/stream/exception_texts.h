#pragma once

#include "model/event.h"

namespace whystop {

/// Reads the texts of exceptions that a probe saw as if they stood in a log: a program may catch them, or print them into a
/// file of its own, and only then do they say why. Each line that a signature knows becomes a LogFact of that process,
/// behind the event that it is from. Everything is handed on.
class ExceptionTexts final : public EventSink {
 public:
  explicit ExceptionTexts(EventSink& out) : out_(out) {}
  void Push(const Event& event) override;

 private:
  EventSink& out_;
};

}  // namespace whystop

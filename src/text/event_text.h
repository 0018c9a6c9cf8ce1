#pragma once

// Events of a log as text, so that two ways of reading can be compared: for tests and fuzzers.

#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "model/event.h"
#include "text/log_reader.h"

namespace whystop {

class EventLines final : public EventSink {
 public:
  void Push(const Event& event) override {
    std::string line = std::to_string(event.body.index());
    const auto add = [&line](const auto& part) {
      line += '\x1f';
      if constexpr (std::is_convertible_v<decltype(part), std::string_view>) {
        line += part;
      } else if constexpr (std::is_floating_point_v<std::decay_t<decltype(part)>>) {
        line += std::to_string(std::bit_cast<std::uint64_t>(static_cast<double>(part)));
      } else {
        line += std::to_string(static_cast<std::int64_t>(part));
      }
    };
    if (const auto* fact = event.As<LogFact>()) {
      add(fact->cause), add(fact->line), add(fact->place.line), add(fact->rank.value_or(-1));
      add(static_cast<int>(fact->role)), add(fact->captures.size());
    } else if (const auto* seen = event.As<ExceptionSeen>()) {
      add(seen->type), add(seen->message), add(seen->first_message), add(seen->frames.size());
      add(seen->ended_process), add(seen->place.line);
    } else if (const auto* scalar = event.As<Scalar>()) {
      add(scalar->series), add(scalar->value), add(scalar->place.line),
          add(scalar->step.value_or(-1));
      add(scalar->epoch.value_or(-1)), add(static_cast<int>(scalar->role)),
          add(scalar->rank.value_or(-1));
    } else if (const auto* progress = event.As<Progress>()) {
      add(progress->step.value_or(-1)), add(progress->steps_planned.value_or(-1));
      add(progress->epoch.value_or(-1)), add(progress->epochs_planned.value_or(-1)),
          add(progress->place.line);
    } else if (const auto* note = event.As<Observation>()) {
      add(note->kind), add(note->attributes.size());
    } else if (const auto* end = event.As<TextEnd>()) {
      add(static_cast<int>(end->kind)), add(end->last_line), add(end->place.line);
    }
    lines.push_back(std::move(line));
  }
  std::vector<std::string> lines;
};

/// Reads `bytes` in pieces of `piece_bytes`, with or without the memory for shapes of lines.
inline std::vector<std::string> ReadEventLines(std::string_view bytes, std::size_t piece_bytes,
                                               bool learn_shapes) {
  EventLines out;
  LogReader reader("log", out, {.text_end = true, .learn_shapes = learn_shapes});
  for (std::size_t at = 0; at < bytes.size(); at += piece_bytes) {
    reader.Feed(bytes.substr(at, piece_bytes), RunTime{});
  }
  reader.Finish(RunTime{}, std::nullopt);
  return out.lines;
}

}  // namespace whystop

#pragma once

#include <string_view>

namespace whystop {

/// Columns and keys that say where a row stands rather than what was measured.
enum class PositionKey {
  kNone,
  kStep,
  kRowNumber,  // W&B's "_step": a step only where nothing better is there.
  kEpoch,
  kStepsPlanned,
  kEpochsPlanned,
  kWallSeconds,  // Since 1970.
  kRunSeconds,   // Since the run began.
  kTimeLeft,     // What it will still take.
};

/// By the key's name, in any case and with or without a "train/" in front: "step", "global_step",
/// "Iteration".
PositionKey PositionKeyOf(std::string_view name);

}  // namespace whystop

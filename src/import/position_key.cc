#include "import/position_key.h"

#include <array>
#include <cctype>
#include <string>

namespace whystop {
namespace {

struct Known {
  std::string_view name;
  PositionKey key;
};

constexpr std::array<Known, 45> kKnown = {{
    {"step", PositionKey::kStep},
    {"steps", PositionKey::kStep},
    {"_step", PositionKey::kRowNumber},
    {"global_step", PositionKey::kStep},
    {"globalstep", PositionKey::kStep},
    {"trainer/global_step", PositionKey::kStep},
    {"current_steps", PositionKey::kStep},
    {"iter", PositionKey::kStep},
    {"iters", PositionKey::kStep},
    {"iter_num", PositionKey::kStep},
    {"iteration", PositionKey::kStep},
    {"iterations", PositionKey::kStep},
    {"it", PositionKey::kStep},
    {"i", PositionKey::kStep},
    {"n_iter", PositionKey::kStep},
    {"num_updates", PositionKey::kStep},
    {"update", PositionKey::kStep},
    {"train_step", PositionKey::kStep},
    {"total_timesteps", PositionKey::kStep},
    {"timesteps_total", PositionKey::kStep},
    {"training_iteration", PositionKey::kStep},
    {"epoch", PositionKey::kEpoch},
    {"epochs", PositionKey::kEpoch},
    {"ep", PositionKey::kEpoch},
    {"current_epoch", PositionKey::kEpoch},
    {"epoch_num", PositionKey::kEpoch},
    {"epoch_idx", PositionKey::kEpoch},
    {"total_steps", PositionKey::kStepsPlanned},
    {"max_steps", PositionKey::kStepsPlanned},
    {"max_iters", PositionKey::kStepsPlanned},
    {"max_iter", PositionKey::kStepsPlanned},
    {"num_epochs", PositionKey::kEpochsPlanned},
    {"total_epochs", PositionKey::kEpochsPlanned},
    {"max_epochs", PositionKey::kEpochsPlanned},
    {"num_train_epochs", PositionKey::kEpochsPlanned},
    {"_timestamp", PositionKey::kWallSeconds},
    {"timestamp", PositionKey::kWallSeconds},
    {"wall_time", PositionKey::kWallSeconds},
    {"_runtime", PositionKey::kRunSeconds},
    {"elapsed_seconds", PositionKey::kRunSeconds},
    {"time_total_s", PositionKey::kRunSeconds},
    {"eta_seconds", PositionKey::kTimeLeft},
    {"eta_s", PositionKey::kTimeLeft},
    {"time_left", PositionKey::kTimeLeft},
    {"remaining_seconds", PositionKey::kTimeLeft},
}};

}  // namespace

PositionKey PositionKeyOf(std::string_view name) {
  if (name.size() > 32) {
    return PositionKey::kNone;
  }
  std::string key;
  for (const char letter : name) {
    const bool blank = letter == ' ' || letter == '-';
    key.push_back(blank ? '_'
                        : static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
  }
  for (const std::string_view front : {"train/", "val/", "eval/"}) {
    if (key.starts_with(front)) {
      key.erase(0, front.size());
    }
  }
  for (const Known& known : kKnown) {
    if (known.name == key) {
      return known.key;
    }
  }
  return PositionKey::kNone;
}

}  // namespace whystop

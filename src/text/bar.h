#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace whystop {

/// A progress bar as drawn: tqdm (with, without and with a plain bar), mmcv, pip and the hub's
/// downloads.
struct Bar {
  std::string_view label;            // "Epoch 3", "Loading checkpoint shards"; may be empty.
  std::optional<std::int64_t> done;  // Absent: counted in bytes or another scaled unit.
  std::optional<std::int64_t> total;
  std::string_view postfix;  // "loss=0.3, v_num=0"
  std::size_t size = 0;      // Bytes of the line up to the bar's end; what follows is other text.
};

/// The bar at the start of a line, or nullopt. Most lines have none and are refused quickly.
std::optional<Bar> ParseBar(std::string_view line);

/// A bar that prepares, loads or checks something instead of training, judged by its label.
bool IsSideBar(const Bar& bar);

}  // namespace whystop

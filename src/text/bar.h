#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace whystop {

/// What a bar's label says whatever the digits in it are.
struct BarLabel {
  bool side = false;       // See IsSideBar.
  bool may_count = false;  // It may name an epoch: "Epoch 3".
  std::string kind;        // Without its digits: "Epoch 3" and "Epoch 4" are the same bar.
};

/// A progress bar as drawn: tqdm (with, without and with a plain bar), mmcv, pip and the hub's
/// downloads.
struct Bar {
  std::string_view label;            // "Epoch 3", "Loading checkpoint shards"; may be empty.
  std::optional<std::int64_t> done;  // Absent: counted in bytes or another scaled unit.
  std::optional<std::int64_t> total;
  std::string_view postfix;  // "loss=0.3, v_num=0"
  std::string_view done_text;
  std::string_view total_text;
  const BarLabel* known_label = nullptr;  // What DescribeLabel says, if it is known already.
  std::size_t size = 0;  // Bytes of the line up to the bar's end; what follows is other text.
};

/// The bar at the start of a line, or nullopt. Most lines have none and are refused quickly.
std::optional<Bar> ParseBar(std::string_view line);

/// A bar that prepares, loads or checks something instead of training, judged by its label.
bool IsSideBar(std::string_view label);
BarLabel DescribeLabel(std::string_view label);

}  // namespace whystop

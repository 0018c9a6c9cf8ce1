#include "sense/near_limit.h"

namespace whystop {

void NearLimit::Begin(RunTime now) {
  now_ = now;
  reason_.clear();
}

bool NearLimit::WillRunOut(const std::string& what, std::int64_t left) {
  const auto [entry, is_new] = before_.try_emplace(what, Level{now_, left});
  Level& before = entry->second;
  const auto elapsed = std::chrono::duration<double>(now_ - before.at).count();
  const double used = static_cast<double>(before.left) - static_cast<double>(left);
  before = {now_, left};
  if (is_new || elapsed <= 0 || used <= 0) {
    return false;
  }
  return static_cast<double>(left) * elapsed / used <
         std::chrono::duration<double>(kHorizon).count();
}

void NearLimit::Watch(const std::string& what, std::optional<std::int64_t> left,
                      std::optional<std::int64_t> whole) {
  if (!left || !whole || *whole <= 0) {
    return;
  }
  const bool soon = WillRunOut(what, *left);
  if (reason_.empty() && (soon || *left < *whole / 10)) {
    reason_ = what;
  }
}

void NearLimit::WatchPace(const std::string& what, std::optional<std::int64_t> left) {
  if (left && WillRunOut(what, *left) && reason_.empty()) {
    reason_ = what;
  }
}

}  // namespace whystop

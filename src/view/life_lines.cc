#include "view/life_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/human.h"

namespace whystop {
namespace {

constexpr std::size_t kFollowedMax = 4096;
constexpr std::size_t kCommandBytesShown = 200;

}  // namespace

LifeLine* LifeLines::Open(std::int64_t pid) {
  if (const auto found = alive_.find(pid); found != alive_.end()) {
    return &lines_[found->second];
  }
  if (lines_.size() >= kFollowedMax) {
    ++not_followed_;
    return nullptr;
  }
  alive_[pid] = lines_.size();
  lines_.emplace_back().pid = pid;
  return &lines_.back();
}

void LifeLines::Take(const RunStart& start) {
  if (LifeLine* line = Open(start.pid)) {
    line->is_job = true;
    line->parent_pid = start.parent_pid;
    line->name = start.command.empty() ? "" : start.command.front();
  }
}

void LifeLines::Take(const ProcessStart& started, RunTime at) {
  LifeLine* line = Open(started.pid);
  if (line == nullptr) {
    return;
  }
  if (line->from == RunTime{} && !line->is_job) {
    line->from = at;
  }
  line->parent_pid = started.parent_pid;
  line->name = started.name;
  line->command = started.command.substr(0, kCommandBytesShown);
}

void LifeLines::Take(const ProcessEnd& end, RunTime at) {
  LifeLine* line = Open(end.pid);
  if (line == nullptr) {
    return;
  }
  line->to = at;
  line->is_job = line->is_job || end.is_job;
  line->name = end.name.empty() ? line->name : end.name;
  line->parent_pid = end.parent_pid == 0 ? line->parent_pid : end.parent_pid;
  line->rss_bytes_max = end.rss_bytes_max;
  if (!end.end) {
    line->how = "ended";
  } else if (end.end->kind() == ChildEnd::Kind::kSignaled) {
    line->how = SignalName(end.end->signal());
    line->grave = true;
  } else {
    line->how = fmt::format("exit {}", end.end->exit_code());
    line->grave = end.end->exit_code() != 0;
  }
  alive_.erase(end.pid);
}

std::vector<LifeLine> LifeLines::Chosen() const {
  std::vector<LifeLine> chosen;
  std::size_t room = kShownMax;
  for (const LifeLine& line : lines_) {
    room -= (line.is_job || line.grave) && room > 0 ? 1 : 0;
  }
  std::size_t told = 0;
  for (const LifeLine& line : lines_) {
    const bool must = line.is_job || line.grave;
    if (chosen.size() < kShownMax && (must || told < room)) {
      told += must ? 0 : 1;
      chosen.push_back(line);
    }
  }
  return chosen;
}

std::int64_t LifeLines::left_out() const {
  return not_followed_ + static_cast<std::int64_t>(lines_.size()) -
         static_cast<std::int64_t>(std::min(lines_.size(), kShownMax));
}

}  // namespace whystop

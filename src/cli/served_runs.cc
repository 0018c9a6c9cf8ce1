#include "cli/served_runs.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "cli/home.h"
#include "cli/recorded_run.h"
#include "record/recording_folder.h"
#include "report/json_writer.h"
#include "report/view_json.h"
#include "view/pace.h"

namespace whystop {
namespace {

constexpr std::size_t kRunsListed = 200;
constexpr std::size_t kPagesHeld = 8;
constexpr std::size_t kSparkPoints = 60;
constexpr int kShareOfTime = 10;
constexpr std::chrono::milliseconds kListPatience{300};

std::string SummaryOf(const SeenRun& run, const std::string& id) {
  const Verdict& verdict = run.verdict;
  const Pace pace = PaceOf(run.view);
  JsonWriter out;
  out.Open();
  out.Text("id", id);
  std::string command;
  for (const std::string& word : verdict.command) {
    command += (command.empty() ? "" : " ") + word;
  }
  out.Said("command", command);
  out.Text("outcome", Name(verdict.outcome));
  out.Text("learning", Name(verdict.learning));
  out.Said("headline", verdict.headline);
  out.Flag("bad", ExitCodeOf(verdict) == 1);
  out.Text("cause", verdict.causes.empty() ? "" : verdict.causes.front().id);
  out.NumberOrNull("started_ms", run.view.start ? std::optional<std::int64_t>(
                                                      run.view.start->wall.count() / 1'000'000)
                                                : std::nullopt);
  out.NumberOrNull("seconds", verdict.progress.seconds);
  out.NumberOrNull("step", verdict.progress.step);
  out.NumberOrNull("steps_planned", verdict.progress.steps_planned);
  out.NumberOrNull("epoch", verdict.progress.epoch);
  out.NumberOrNull("epochs_planned", verdict.progress.epochs_planned);
  const bool running = verdict.outcome == Outcome::kRunning;
  out.NumberOrNull("steps_per_second", pace.steps_a_second);
  out.NumberOrNull("seconds_left", running ? pace.seconds_left : std::nullopt);
  out.OpenList("spark");
  if (const SeriesLine* series = MainSeries(run.view)) {
    for (const auto& value : SparkOf(series->line, kSparkPoints)) {
      out.NumberOrNull("", value);
    }
  }
  out.CloseList();
  out.Close();
  return out.text();
}

/// A run of which nothing is told but its name and why.
std::string SummaryWithout(const std::string& id, std::string_view state, std::string_view reason) {
  JsonWriter out;
  out.Open();
  out.Text("id", id);
  for (const char* key : {"command", "learning", "cause"}) {
    out.Text(key, "");
  }
  out.Text("outcome", state);
  out.Text("headline", reason);
  out.Flag("bad", !reason.empty());
  for (const char* key : {"started_ms", "seconds", "step", "steps_planned", "epoch",
                          "epochs_planned", "steps_per_second", "seconds_left"}) {
    out.Null(key);
  }
  out.OpenList("spark");
  out.CloseList();
  out.Close();
  return out.text();
}

/// A label's value as Prometheus wants it.
std::string Label(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == '"') {
      out += '\\';
    }
    out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return out;
}

std::string MetricsOf(const SeenRun& run, const std::string& id) {
  const std::string labels = fmt::format("{{run=\"{}\"}}", Label(id));
  std::string text;
  const auto put = [&](std::string_view name, const std::optional<double>& value) {
    if (value) {
      text += fmt::format("whystop_{}{} {}\n", name, labels, *value);
    }
  };
  const Verdict& verdict = run.verdict;
  put("running", verdict.outcome == Outcome::kRunning || verdict.outcome == Outcome::kHung ? 1 : 0);
  put("fault_found", ExitCodeOf(verdict) == 1 ? 1 : 0);
  text += fmt::format("whystop_outcome{{run=\"{}\",outcome=\"{}\",learning=\"{}\"}} 1\n", Label(id),
                      Name(verdict.outcome), Name(verdict.learning));
  put("seconds", verdict.progress.seconds);
  put("step", verdict.progress.step
                  ? std::optional<double>(static_cast<double>(*verdict.progress.step))
                  : std::nullopt);
  put("epoch", verdict.progress.epoch);
  const Pace pace = PaceOf(run.view);
  put("steps_per_second", pace.steps_a_second);
  if (const SeriesLine* series = LossSeries(run.view)) {
    put("loss", series->line.last());
  }
  for (const ResourceLine& line : run.view.resources) {
    if (line.panel == "memory" && line.line.points() > 0) {
      text += fmt::format("whystop_memory_bytes{{run=\"{}\",what=\"{}\"}} {}\n", Label(id),
                          Label(line.label), line.line.last());
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> ServedRuns::Paths() const {
  std::vector<std::string> paths = only_;
  if (only_.empty()) {
    for (const RecordedRun& run : ListRecordings()) {
      paths.push_back(run.path);
    }
  }
  std::reverse(paths.begin(), paths.end());
  if (paths.size() > kRunsListed) {
    paths.resize(kRunsListed);
  }
  return paths;
}

ServedRuns::Stamp ServedRuns::StampOf(const std::string& path) {
  Stamp stamp;
  std::error_code fault;
  for (const auto& entry : std::filesystem::directory_iterator(path, fault)) {
    const auto size = entry.file_size(fault);
    stamp.bytes += fault ? 0 : static_cast<std::int64_t>(size);
  }
  struct statx events{};
  const std::string file = path + "/" + std::string(kEventsFile);
  if (::statx(AT_FDCWD, file.c_str(), 0, STATX_INO | STATX_BTIME, &events) == 0) {
    // A number is used again at once; where the file system does not tell the birth, it must do.
    stamp.file = {events.stx_ino, events.stx_btime.tv_sec, events.stx_btime.tv_nsec};
  }
  stamp.alive = LockHolder(path) > 0;
  return stamp;
}

bool ServedRuns::Changed() {
  std::map<std::string, Stamp> now;
  for (const std::string& path : Paths()) {
    now[path] = StampOf(path);
  }
  const std::lock_guard lock(mutex_);
  const bool changed = now != seen_ || read_on_;
  read_on_ = false;
  seen_ = std::move(now);
  return changed;
}

bool ServedRuns::ReadOn() {
  const std::lock_guard lock(mutex_);
  if (unread_.empty()) {
    return false;
  }
  const std::string path = std::move(unread_.back());
  unread_.pop_back();
  Refresh(path, false);
  read_on_ = true;
  return true;
}

Result<SeenRun> ServedRuns::See(const std::string& path, Held& held, const Stamp& now) {
  if (!now.alive || held.stamp.file != now.file) {
    held.follower = nullptr;
  }
  if (!now.alive) {
    return SeeRecording(path);
  }
  if (!held.follower) {
    auto follower = RunFollower::Open(path);
    if (!follower) {
      return follower.error();
    }
    held.follower = std::move(*follower);
  }
  held.follower->Pump();
  return held.follower->SeeWithExcerpts();
}

ServedRuns::Held& ServedRuns::Refresh(const std::string& path, bool with_page) {
  Held& held = held_[path];
  const Stamp stamp = StampOf(path);
  const auto now = MonotonicNow();
  const bool known = held.read_at.count() > 0 && (!with_page || held.page);
  const bool rested = now - held.read_at > kShareOfTime * held.read_took;
  // How a run ended is not kept waiting, nor is another run in its place.
  if (known && (held.stamp == stamp || (!rested && held.stamp.alive == stamp.alive && held.stamp.file == stamp.file))) {
    return held;
  }
  const std::string id = LastPart(path);
  auto seen = See(path, held, stamp);
  if (seen) {
    held.summary = SummaryOf(*seen, id);
    held.metrics = MetricsOf(*seen, id);
    // Whoever looked at it before looks still, as far as we know.
    if (with_page || held.page) {
      DrawTrials(*seen);
      held.page = std::make_shared<const std::string>(
          RenderView(seen->view, seen->verdict, PagesFor(seen->verdict)));
    }
  } else {
    held.summary = SummaryWithout(id, "unreadable", seen.error().what);
    held.metrics.clear();
    held.page = nullptr;
  }
  held.stamp = stamp;
  held.read_at = MonotonicNow();
  held.read_took = held.read_at - now;
  return held;
}

void ServedRuns::DropOldPages() {
  std::vector<std::pair<std::uint64_t, Held*>> pages;
  for (auto& [path, held] : held_) {
    if (held.page) {
      pages.emplace_back(held.asked, &held);
    }
  }
  std::sort(pages.begin(), pages.end());
  for (std::size_t i = 0; i + kPagesHeld < pages.size(); ++i) {
    pages[i].second->page = nullptr;
  }
}

void ServedRuns::RefreshSome(const std::vector<std::string>& paths) {
  const auto until = MonotonicNow() + kListPatience;
  const std::lock_guard lock(mutex_);
  unread_.clear();
  std::erase_if(held_, [&](const auto& one) {
    return std::find(paths.begin(), paths.end(), one.first) == paths.end();  // Deleted.
  });
  const bool with_page = only_.size() == 1;  // Who names one run wants to see it: it is not read twice.
  for (const std::string& path : paths) {
    if (MonotonicNow() < until) {
      Refresh(path, with_page);
    } else if (held_[path].read_at.count() == 0) {
      unread_.push_back(path);
    }
  }
  std::reverse(unread_.begin(), unread_.end());
}

std::string ServedRuns::ListJson() {
  const std::vector<std::string> paths = Paths();
  RefreshSome(paths);
  const std::lock_guard lock(mutex_);
  std::string list = "[";
  for (const std::string& path : paths) {
    const Held& held = held_[path];
    list +=
        (list.size() > 1 ? "," : "") +
        (held.read_at.count() > 0 ? held.summary : SummaryWithout(LastPart(path), "reading", ""));
  }
  return list + "]";
}

std::shared_ptr<const std::string> ServedRuns::RunJson(const std::string& id) {
  for (const std::string& path : Paths()) {
    if (LastPart(path) == id) {
      const std::lock_guard lock(mutex_);
      Held& held = Refresh(path, true);
      held.asked = ++asked_;
      const auto page = held.page;
      DropOldPages();
      return page;
    }
  }
  return nullptr;
}

std::string ServedRuns::Metrics() {
  std::string text =
      "# TYPE whystop_running gauge\n# TYPE whystop_fault_found gauge\n"
      "# TYPE whystop_outcome gauge\n# TYPE whystop_seconds gauge\n# TYPE whystop_step gauge\n"
      "# TYPE whystop_epoch gauge\n# TYPE whystop_steps_per_second gauge\n"
      "# TYPE whystop_loss gauge\n# TYPE whystop_memory_bytes gauge\n";
  // Whoever collects figures wants all of them, and can wait.
  for (const std::string& path : Paths()) {
    const std::lock_guard lock(mutex_);
    text += Refresh(path, false).metrics;
  }
  return text;
}

}  // namespace whystop

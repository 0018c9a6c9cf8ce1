#include "report/top_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/human.h"
#include "base/redact.h"
#include "base/shown_text.h"
#include "report/sparkline.h"
#include "report/verdict_words.h"
#include "view/pace.h"

namespace whystop {
namespace {

constexpr std::size_t kLabelWidth = 10;
constexpr std::size_t kFindingsShown = 4;

std::string Seconds(double seconds) {
  return HumanDuration(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

/// The first characters of UTF-8 text.
std::string FirstOf(const std::string& text, std::size_t characters) {
  std::size_t size = 0;
  while (size < text.size()) {
    const bool starts = (static_cast<unsigned char>(text[size]) & 0xc0) != 0x80;
    if (starts && characters-- == 0) {
      break;
    }
    ++size;
  }
  return text.substr(0, size);
}

/// Lines of "label     text", cut to the width: a screen that wraps cannot be redrawn in place.
class Screen {
 public:
  explicit Screen(const TerminalStyle& style) : style_(style) {}
  void Line(std::string_view label, const std::string& text, std::string_view colour = "") {
    const std::string padded = fmt::format("{:<{}}", label, kLabelWidth);
    const auto room = static_cast<std::size_t>(std::max(20, style_.width - 1)) - kLabelWidth;
    const std::string whole = ShownText(RedactText(text));
    std::string shown = FirstOf(whole, room);
    if (shown.size() < whole.size()) {
      shown = style_.unicode ? FirstOf(whole, room - 1) + "…" : FirstOf(whole, room - 3) + "...";
    }
    text_ += style_.colour && !colour.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", colour, padded)
                                              : padded;
    text_ += shown + "\n";
  }
  const std::string& text() const { return text_; }
  std::size_t room() const {
    return static_cast<std::size_t>(std::max(20, style_.width - 1)) - kLabelWidth;
  }

 private:
  TerminalStyle style_;
  std::string text_;
};

std::string ProgressText(const Progress& progress) {
  std::string text;
  if (progress.step) {
    text = "step " + HumanCount(*progress.step);
    if (progress.steps_planned) {
      text += " of " + HumanCount(*progress.steps_planned);
    }
  }
  if (progress.epoch) {
    text += fmt::format("{}epoch {:.0f}", text.empty() ? "" : ", ", std::floor(*progress.epoch));
    if (progress.epochs_planned) {
      text += fmt::format(" of {:.0f}", *progress.epochs_planned);
    }
  }
  return text.empty() ? "no step seen yet" : text;
}

std::string_view CurveLabel(SeriesRole role) {
  switch (role) {
    case SeriesRole::kTrainLoss:
    case SeriesRole::kValidationLoss:
      return "loss";
    case SeriesRole::kTrainScore:
    case SeriesRole::kValidationScore:
      return "score";
    default:
      return "curve";
  }
}

/// "1.2 GiB of 2 GiB, full in 3 h at this pace".
std::string MemoryText(const ResourceLine& line) {
  const double now = line.line.last();
  std::string text = line.label + " " + HumanBytes(now);
  const std::vector<LineBucket>& buckets = line.line.buckets();
  if (!line.limit || buckets.size() < 4) {
    return text;
  }
  text += " of " + HumanBytes(*line.limit);
  const LineBucket& middle = buckets[buckets.size() / 2];
  const double seconds = std::chrono::duration<double>(buckets.back().at - middle.at).count();
  const double slope = seconds > 0 ? (now - middle.Mean()) / seconds : 0;
  // Told only where the run would meet its limit before twice the time it has run.
  const double left = slope > 0 ? (*line.limit - now) / slope : 0;
  if (slope > 0 && left > 0 &&
      left < 2 * std::chrono::duration<double>(buckets.back().at).count()) {
    text += ", full in " + Seconds(left) + " at this pace";
  }
  return text;
}

void ShowResources(const RunView& view, Screen& screen) {
  std::string_view panel;
  for (const ResourceLine& line : view.resources) {
    const bool wanted = line.panel == "memory" || line.panel == "cpu" || line.panel == "load" || line.panel == "gpu" ||
                        line.panel == "gpu memory";
    if (!wanted || line.line.points() == 0 || line.label.find("private") != std::string::npos) {
      continue;
    }
    const std::string_view label = line.panel == panel ? "" : line.panel;
    panel = line.panel;
    if (line.unit == "bytes") {
      screen.Line(label, MemoryText(line));
    } else {
      screen.Line(label,
                  fmt::format("{} {} {}", line.label, HumanNumber(line.line.last(), 3), line.unit));
    }
  }
}

void ShowFindings(const RunView& view, const Verdict& verdict, Screen& screen) {
  std::size_t shown = 0;
  for (const VerdictCause& cause : verdict.causes) {
    if (shown < kFindingsShown && cause.fault) {
      screen.Line(shown++ == 0 ? "suspects" : "",
                  fmt::format("{} ({}), {}", cause.title.empty() ? cause.id : cause.title, cause.id,
                              Name(cause.confidence)),
                  "1;31");
    }
  }
  for (const Finding& finding : view.findings) {
    if (shown < kFindingsShown && finding.detector != "loss/trend") {
      const std::string where =
          finding.step_from ? fmt::format(" from step {}", HumanCount(*finding.step_from)) : "";
      screen.Line(shown++ == 0 ? "seen" : "",
                  fmt::format("{} {}{}", finding.detector, finding.series, where));
    }
  }
}

}  // namespace

std::string RenderTop(const RunView& view, const Verdict& verdict, const std::string& last_line,
                      const TerminalStyle& style) {
  Screen screen(style);
  std::string command;
  for (const std::string& word : verdict.command) {
    command += (command.empty() ? "" : " ") + word;
  }
  screen.Line("whystop", verdict.run_id + "  " + command, "1");
  const bool bad = ExitCodeOf(verdict) == 1;
  screen.Line("state", verdict.ending, bad ? "1;31" : "1;32");
  const Pace pace = PaceOf(view);
  std::string progress = ProgressText(view.progress);
  if (pace.steps_a_second) {
    progress += fmt::format(", {} steps/s", HumanNumber(*pace.steps_a_second, 3));
  }
  progress += ", " + HumanDuration(view.last_at) + " so far";
  if (pace.seconds_left && verdict.outcome == Outcome::kRunning) {
    progress += ", " + Seconds(*pace.seconds_left) + " left";
  }
  screen.Line("progress", progress);
  if (const SeriesLine* series = MainSeries(view)) {
    const std::string figures =
        fmt::format("{} {} -> {}", series->name, HumanNumber(series->line.first()),
                    HumanNumber(series->line.last()));
    const std::size_t room = screen.room() > figures.size() + 12
                                 ? std::min<std::size_t>(48, screen.room() - figures.size() - 2)
                                 : 0;
    const std::string curve =
        style.unicode && room > 0 ? Sparkline(SparkOf(series->line, room)) : "";
    screen.Line(CurveLabel(series->role), curve.empty() ? figures : curve + "  " + figures);
  }
  screen.Line("learning", LearningWords(verdict));
  if (const auto share = DataWaitOf(view)) {
    screen.Line("data wait", fmt::format("{:.0f} % of a step's time", 100 * *share));
  }
  ShowResources(view, screen);
  ShowFindings(view, verdict, screen);
  if (!last_line.empty()) {
    screen.Line("log", last_line);
  }
  return screen.text();
}

}  // namespace whystop

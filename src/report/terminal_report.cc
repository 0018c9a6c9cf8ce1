#include "report/terminal_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/human.h"
#include "base/redact.h"
#include "base/shown_text.h"
#include "report/sparkline.h"
#include "report/verdict_words.h"
#include "view/pace.h"

namespace whystop {
namespace {

constexpr int kLabelWidth = 10;
constexpr std::size_t kFixesMax = 3;
constexpr std::size_t kEvidenceMax = 4;
constexpr std::size_t kTimesMax = 3;
constexpr std::size_t kCurveWidth = 48;

/// How many bytes the first `columns` characters take.
std::size_t BytesOf(std::string_view text, std::size_t columns) {
  std::size_t size = 0;
  for (; size < text.size(); ++size) {
    const bool begins = (static_cast<unsigned char>(text[size]) & 0xC0U) != 0x80U;
    if (begins && columns-- == 0) {
      break;
    }
  }
  return size;
}

/// Lays out "LABEL     text" with the text wrapped under itself.
class Page {
 public:
  explicit Page(const TerminalStyle& style) : style_(style) {}

  void Line(std::string_view label, std::string_view text, std::string_view colour = "") {
    std::string shown = fmt::format("{:<{}}", ShownText(label), kLabelWidth);
    if (style_.colour && !colour.empty()) {
      shown = fmt::format("\x1b[{}m{}\x1b[0m", colour, shown);
    }
    const std::string clean = ShownText(RedactText(text));
    std::string_view rest = clean;
    const auto columns = static_cast<std::size_t>(std::max(30, style_.width - kLabelWidth));
    bool first = true;
    while (first || !rest.empty()) {
      const std::size_t room = BytesOf(rest, columns);
      std::size_t size = rest.size();
      if (size > room) {
        const auto space = rest.rfind(' ', room);
        const auto word = std::min(rest.find(' ', room), rest.size()) -
                          (space == std::string_view::npos ? 0 : space);
        size = space == std::string_view::npos || (space < room / 2 && word > room) ? room : space;
      }
      text_ += (first ? shown : std::string(kLabelWidth, ' ')) + std::string(rest.substr(0, size)) +
               "\n";
      rest.remove_prefix(size);
      rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
      first = false;
    }
  }

  void Blank() { text_ += "\n"; }
  const std::string& text() const { return text_; }

 private:
  TerminalStyle style_;
  std::string text_;
};

/// "  [train.py:31]", or nothing where the text itself says so.
std::string PlaceOf(const Evidence& evidence) {
  if (evidence.place.file.empty()) {
    return "";
  }
  const std::string place = evidence.place.line > 0
                                ? fmt::format("{}:{}", evidence.place.file, evidence.place.line)
                                : evidence.place.file;
  const std::string_view name = std::string_view(place).substr(place.rfind('/') + 1);
  return evidence.text.find(name) == std::string::npos ? fmt::format("  [{}]", place) : "";
}

void ShowCause(const VerdictCause& cause, Page& page) {
  const std::string_view label = cause.role == CauseRole::kRoot          ? "  why"
                                 : cause.role == CauseRole::kConsequence ? "  then"
                                                                         : "  also";
  std::string title =
      cause.title.empty() ? cause.id : fmt::format("{} ({})", cause.title, cause.id);
  if (cause.confidence != Confidence::kCertain) {
    title += fmt::format(", {}", Name(cause.confidence));
  }
  page.Line(label, title);
  std::size_t shown = 0;
  for (const Evidence& evidence : cause.evidence) {
    if (shown++ == kEvidenceMax) {
      break;
    }
    const std::string_view mark = evidence.weight == Evidence::Weight::kContradicting ? "against: "
                                  : evidence.weight == Evidence::Weight::kMissing     ? "not seen: "
                                                                                      : "";
    page.Line("", std::string(mark) + evidence.text + PlaceOf(evidence));
  }
  if (cause.fault && cause.role != CauseRole::kConsequence) {
    for (std::size_t i = 0; i < std::min(cause.fixes.size(), kFixesMax); ++i) {
      page.Line(i == 0 ? "  fix" : "", cause.fixes[i]);
    }
  }
}

std::string CommandLine(const Verdict& verdict) {
  std::string line;
  for (const std::string& argument : verdict.command) {
    line += (line.empty() ? "" : " ") + argument;
  }
  constexpr std::size_t kCommandMax = 80;
  return line.size() > kCommandMax ? line.substr(0, kCommandMax) + "..." : line;
}

std::string Title(const Verdict& verdict) {
  std::string title = "whystop";
  if (!verdict.run_id.empty() && !verdict.command.empty()) {
    title += "  run " + verdict.run_id;  // Files name themselves.
  }
  if (!verdict.command.empty()) {
    title += "  " + CommandLine(verdict);
  } else if (!verdict.sources.empty()) {
    title +=
        "  " + verdict.sources.front() +
        (verdict.sources.size() > 1 ? fmt::format(" and {} more", verdict.sources.size() - 1) : "");
  }
  if (verdict.progress.seconds) {
    title += "  " +
             HumanDuration(std::chrono::nanoseconds(std::llround(*verdict.progress.seconds * 1e9)));
  }
  return title;
}

std::string_view ColourOf(Learning learning) {
  switch (learning) {
    case Learning::kImproving:
    case Learning::kConverged:
      return "1;32";
    case Learning::kDiverged:
    case Learning::kNeverLearned:
      return "1;31";
    case Learning::kStalled:
      return "1;33";
    case Learning::kUnknown:
      break;
  }
  return "1";
}

void ShowTrials(const std::vector<TrialResult>& trials, Page& page) {
  bool first = true;
  for (const TrialResult& trial : trials) {
    page.Line(first ? "tried" : "", trial.change + ": " + trial.text);
    first = false;
  }
}

void ShowSurroundings(const Verdict& verdict, Page& page) {
  std::string ruled_out;
  for (const RuledOut& one : verdict.ruled_out) {
    ruled_out += (ruled_out.empty() ? "" : "; ") + one.what + " (" + one.figure + ")";
  }
  if (!ruled_out.empty()) {
    page.Line("ruled out", ruled_out);
  }
  for (const Unknown& unknown : verdict.unknowns) {
    page.Line("unknown", unknown.what + "; would show it: " + unknown.would_show);
  }
  for (const Drop& drop : verdict.drops) {
    page.Line("not kept", fmt::format("{}: {}", drop.counter, HumanCount(drop.count)));
  }
}

/// "▇▅▃▂▁  loss 2.3 -> 0.4": the curve in one line.
void ShowCurve(const RunView& view, const TerminalStyle& style, Page& page) {
  const SeriesLine* series = MainSeries(view);
  if (series == nullptr || !style.unicode) {
    return;
  }
  const std::string curve = Sparkline(SparkOf(series->line, kCurveWidth));
  if (!curve.empty()) {
    page.Line("", fmt::format("{}  {}", curve, series->name));
  }
}

/// What happened last, with its time: "1 m 2 s SIGTERM from bash; 1 m 3 s the job ended".
void ShowTimes(const RunView& view, Page& page) {
  std::vector<const TimeMark*> grave;
  for (const TimeMark& mark : view.marks) {
    if (mark.grave && mark.kind != "log" && mark.kind != "exception") {
      grave.push_back(&mark);
    }
  }
  // A single mark is the end itself, which the first line tells.
  if (!view.timed || grave.size() < 2) {
    return;
  }
  std::string text;
  for (std::size_t i = grave.size() > kTimesMax ? grave.size() - kTimesMax : 0; i < grave.size();
       ++i) {
    text += fmt::format("{}{} {:.80}", text.empty() ? "" : "; ", HumanDuration(grave[i]->at),
                        grave[i]->text);
  }
  page.Line("  when", text);
}

}  // namespace

std::string RenderTerminal(const Verdict& verdict, const TerminalStyle& style,
                           const RunView* view) {
  Page page(style);
  const bool bad = ExitCodeOf(verdict) == 1;
  const bool ended = verdict.exit.code || verdict.exit.signal;
  const std::string_view label = verdict.outcome == Outcome::kRunning         ? "RUNNING"
                                 : verdict.outcome == Outcome::kHung && !ended ? "HANGS"
                                                                               : "STOPPED";
  page.Line(Title(verdict), "");
  page.Blank();
  page.Line(label, verdict.ending, bad ? "1;31" : "1;32");
  for (const VerdictCause& cause : verdict.causes) {
    if (cause.answers == Answers::kStop) {
      ShowCause(cause, page);
    }
  }
  if (view != nullptr) {
    ShowTimes(*view, page);
  }
  page.Line("LEARNING", LearningWords(verdict), ColourOf(verdict.learning));
  if (view != nullptr) {
    ShowCurve(*view, style, page);
  }
  for (const VerdictCause& cause : verdict.causes) {
    if (cause.answers == Answers::kLearning) {
      ShowCause(cause, page);
    }
  }
  for (std::size_t i = 0; i < verdict.trainings.size(); ++i) {
    page.Line(i == 0 ? "trained" : "", verdict.trainings[i]);
  }
  ShowTrials(verdict.trials, page);
  ShowSurroundings(verdict, page);
  return page.text();
}

std::string RenderLine(const Verdict& verdict) {
  std::string line = ShownText(RedactText(verdict.headline));
  if (verdict.learning != Learning::kUnknown) {
    line += fmt::format("; learning: {}", Name(verdict.learning));
  }
  return line;
}

}  // namespace whystop

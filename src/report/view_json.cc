#include "report/view_json.h"

#include <fmt/format.h>

#include <cmath>

#include "base/version.h"
#include "report/json_report.h"
#include "report/json_writer.h"
#include "report/series_role_name.h"
#include "report/verdict_words.h"
#include "view/pace.h"

namespace whystop {
namespace {

// What a chart of some 1,300 pixels can show, and what a file may weigh.
constexpr std::size_t kBucketsOfAMainSeries = 720;
constexpr std::size_t kBucketsOfOtherSeries = 180;
constexpr std::size_t kMainSeries = 8;
constexpr std::size_t kBucketsOfAResource = 360;
constexpr std::size_t kFindingsMax = 200;

double SecondsOf(RunTime at) { return std::chrono::duration<double>(at).count(); }

/// Six digits are more than a picture shows; a value that is not finite is null.
std::string Short(double value) {
  return std::isfinite(value) ? fmt::format("{:.6g}", value) : "null";
}

template <typename Of>
void PutColumn(JsonWriter& out, std::string_view key, const std::vector<LineBucket>& buckets,
               Of of) {
  std::string text = "[";
  for (const LineBucket& bucket : buckets) {
    text += (text.size() > 1 ? "," : "") + of(bucket);
  }
  out.Raw(key, text + "]");
}

/// Columns: t (seconds), mean, and where buckets hold several points also min and max.
void PutBuckets(JsonWriter& out, const std::vector<LineBucket>& buckets, bool timed) {
  if (timed) {
    PutColumn(out, "t", buckets,
              [](const LineBucket& b) { return fmt::format("{:.9g}", SecondsOf(b.at)); });
  }
  PutColumn(out, "mean", buckets,
            [](const LineBucket& b) { return b.HasRange() ? Short(b.Mean()) : "null"; });
  bool ranges = false;
  for (const LineBucket& bucket : buckets) {
    ranges = ranges || bucket.min < bucket.max;
  }
  if (ranges) {
    PutColumn(out, "min", buckets,
              [](const LineBucket& b) { return b.HasRange() ? Short(b.min) : "null"; });
    PutColumn(out, "max", buckets,
              [](const LineBucket& b) { return b.HasRange() ? Short(b.max) : "null"; });
  }
}

void PutLine(JsonWriter& out, const SeriesLine& series, std::size_t buckets_max, bool timed) {
  const std::vector<LineBucket> buckets = series.line.Reduced(buckets_max);
  out.Text("name", series.name);
  out.Text("role", NameOf(series.role));
  if (series.rank) {
    out.Number("rank", std::int64_t{*series.rank});
  }
  out.Text("file", series.file);
  out.Flag("steps", series.has_steps);
  out.Number("points", series.line.points());
  out.Number("first", series.line.first());
  out.Number("last", series.line.last());
  out.Number("noise", series.noise);
  PutColumn(out, "x", buckets, [](const LineBucket& b) { return fmt::format("{:.15g}", b.x); });
  PutBuckets(out, buckets, timed);
  out.OpenList("bad");  // [bucket, how many values that were not finite]
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    if (buckets[i].not_finite > 0) {
      out.Raw("", fmt::format("[{},{}]", i, buckets[i].not_finite));
    }
  }
  out.CloseList();
}

void PutSeries(JsonWriter& out, const RunView& view) {
  out.OpenList("series");
  std::size_t shown = 0;
  for (const SeriesLine& series : view.series) {
    out.Open();
    PutLine(out, series, shown++ < kMainSeries ? kBucketsOfAMainSeries : kBucketsOfOtherSeries,
            view.timed);
    out.Close();
  }
  out.CloseList();
  out.Number("series_left_out", view.series_left_out);
  out.OpenList("trial_lines");
  for (const TrialLine& trial : view.trials) {
    out.Open();
    out.Said("change", trial.change);
    PutLine(out, trial.series, kBucketsOfOtherSeries, /*timed=*/false);
    out.Close();
  }
  out.CloseList();
}

void PutResources(JsonWriter& out, const RunView& view) {
  out.OpenList("resources");
  for (const ResourceLine& resource : view.resources) {
    out.Open();
    out.Text("panel", resource.panel);
    out.Text("unit", resource.unit);
    out.Text("label", resource.label);
    out.Number("limit", resource.limit);
    PutBuckets(out, resource.line.Reduced(kBucketsOfAResource), true);
    out.Close();
  }
  out.CloseList();
}

void PutMarks(JsonWriter& out, const RunView& view) {
  out.OpenList("marks");
  for (const TimeMark& mark : view.marks) {
    out.Open();
    if (view.timed) {
      out.Number("t", SecondsOf(mark.at));
    }
    out.Number("step", mark.step);
    out.Text("kind", mark.kind);
    out.Said("text", mark.text);
    out.Flag("grave", mark.grave);
    out.Close();
  }
  out.CloseList();
  out.OpenList("findings");
  for (std::size_t i = 0; i < std::min(view.findings.size(), kFindingsMax); ++i) {
    const Finding& finding = view.findings[i];
    out.Open();
    out.Text("detector", finding.detector);
    out.Text("series", finding.series);
    out.Number("t", SecondsOf(finding.at));
    out.Number("step_from", finding.step_from);
    out.Number("step_to", finding.step_to);
    out.Close();
  }
  out.CloseList();
}

std::string CellsOf(const std::vector<HeatCell>& cells) {
  std::string text = "[";
  for (const HeatCell& cell : cells) {
    text += text.size() > 1 ? "," : "";
    // A value that was not finite is a text: it is shown whatever else the column holds.
    text += cell.not_finite ? "\"!\"" : cell.size < 0 ? "null" : fmt::format("{:.3g}", cell.size);
  }
  return text + "]";
}

void PutHeat(JsonWriter& out, const HeatMap& heat) {
  out.Open("heat");
  out.Number("first_step", heat.first_step());
  out.Number("steps_a_column", heat.steps_a_column());
  out.Number("left_out", heat.tensors_left_out());
  out.OpenList("rows");
  for (const HeatMap::Row& row : heat.rows()) {
    out.Open();
    out.Text("tensor", row.tensor);
    out.Raw("gradients", CellsOf(row.cells[HeatMap::kGradients]));
    out.Raw("weights", CellsOf(row.cells[HeatMap::kWeights]));
    out.Raw("updates", CellsOf(row.cells[HeatMap::kUpdates]));
    out.Close();
  }
  out.CloseList();
  out.Close();
}

void PutProcesses(JsonWriter& out, const RunView& view) {
  out.OpenList("processes");
  for (const LifeLine& line : view.processes) {
    out.Open();
    out.Number("pid", line.pid);
    out.Number("parent", line.parent_pid);
    out.Text("name", line.name);
    out.Said("command", line.command);
    out.Number("from", SecondsOf(line.from));
    if (line.to) {
      out.Number("to", SecondsOf(*line.to));
    }
    out.Text("how", line.how);
    out.Flag("grave", line.grave);
    out.Flag("job", line.is_job);
    out.Number("rss", line.rss_bytes_max);
    out.Close();
  }
  out.CloseList();
  out.Number("processes_left_out", view.processes_left_out);
}

void PutExcerpts(JsonWriter& out, std::string_view key, const std::vector<Excerpt>& excerpts) {
  out.OpenList(key);
  for (const Excerpt& excerpt : excerpts) {
    out.Open();
    out.Text("file", excerpt.file);
    out.Said("note", excerpt.note);
    out.OpenList("lines");
    for (const Excerpt::Line& line : excerpt.lines) {
      out.OpenList();
      out.Number("", line.number);
      out.Said("", line.text);
      out.CloseList();
    }
    out.CloseList();
    out.OpenList("marked");
    for (const std::int64_t line : excerpt.marked) {
      out.Number("", line);
    }
    out.CloseList();
    out.Close();
  }
  out.CloseList();
}

void PutRun(JsonWriter& out, const RunView& view, const Verdict& verdict) {
  out.Text("made_by", "whystop " + std::string(kVersion));
  out.Said("ending", verdict.ending);
  out.Said("learning_words", LearningWords(verdict));
  out.Flag("bad", ExitCodeOf(verdict) == 1);
  out.Flag("timed", view.timed);
  out.Flag("ended", view.ended);
  out.Number("seconds", SecondsOf(view.last_at));
  if (view.start) {
    out.Text("host", view.start->host);
    out.Text("user", view.start->user);
    out.Text("directory", view.start->directory);
    out.Number("wall_ms", static_cast<std::int64_t>(view.start->wall.count() / 1'000'000));
  }
  out.Number("guess_level", view.guess_level);
  const Pace pace = PaceOf(view);
  out.Number("steps_per_second", pace.steps_a_second);
  out.Number("seconds_left",
             verdict.outcome == Outcome::kRunning ? pace.seconds_left : std::nullopt);
  out.Number("data_wait", DataWaitOf(view));
}

}  // namespace

std::string RenderView(const RunView& view, const Verdict& verdict,
                       const std::vector<NamedPage>& pages) {
  JsonWriter out;
  out.Open();
  PutRun(out, view, verdict);
  std::string judged = RenderJson(verdict);
  out.Raw("verdict", judged);
  PutSeries(out, view);
  PutResources(out, view);
  PutMarks(out, view);
  PutHeat(out, view.heat);
  PutProcesses(out, view);
  PutExcerpts(out, "logs", view.logs);
  PutExcerpts(out, "sources", view.sources);
  out.OpenList("pages");
  for (const NamedPage& page : pages) {
    out.Open();
    out.Text("id", page.id);
    out.Text("title", page.title);
    out.Text("text", page.text);
    out.Close();
  }
  out.CloseList();
  out.Close();
  return out.text();
}

}  // namespace whystop

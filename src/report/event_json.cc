#include "report/event_json.h"

#include "base/redact.h"
#include "report/json_writer.h"
#include "report/series_role_name.h"

namespace whystop {
namespace {

constexpr std::string_view kKinds[] = {
    "run-start",    "sample",      "subject",  "process-start", "process-end", "signal",
    "clock",        "kernel-line", "log-fact", "exception",     "scalar",      "progress",
    "tensor-stats", "observation", "drop",     "note",          "run-end",     "text-end"};
static_assert(std::size(kKinds) == std::variant_size_v<EventBody>,
              "a name for every kind of event");

constexpr std::string_view kLogRoles[] = {"root",    "confirm", "cascade",
                                          "context", "noise",   "normal"};
constexpr std::string_view kStats[] = {"weight", "gradient", "update",    "input",
                                       "target", "output",   "activation"};
constexpr std::string_view kSubjects[] = {"host",  "tree", "process", "cgroup",
                                          "mount", "gpu",  "recorder"};
constexpr std::string_view kTextEnds[] = {"completed", "mid-line", "mid-progress", "silent",
                                          "nul-tail"};

template <std::size_t N, typename Enum>
std::string_view NameIn(const std::string_view (&names)[N], Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? names[index] : "unknown";
}

/// Writes the fields of one event's body; the caller has opened the object.
class BodyJson {
 public:
  explicit BodyJson(JsonWriter& out) : out_(out) {}

  void operator()(const RunStart& start) {
    out_.Texts("command", RedactSecrets(start.command));  // Again: an older whystop knew fewer.
    out_.Text("directory", start.directory);
    out_.Text("host", start.host);
    out_.Text("user", start.user);
    out_.Number("pid", start.pid);
    out_.Number("parent_pid", start.parent_pid);
    out_.Text("parent_name", start.parent_name);
    out_.Number("wall_ns", start.wall.count());
    out_.Text("boot_id", start.boot_id);
    out_.Flag("terminal", start.terminal);
    out_.Open("environment");
    for (const auto& [name, value] : start.environment) {
      out_.Text(name, NamesASecret(name) ? "***" : RedactText(value));
    }
    out_.Close();
    out_.Open("limits");
    for (const auto& [name, value] : start.limits) {
      out_.Number(name, value);
    }
    out_.Close();
    out_.Text("whystop_version", start.whystop_version);
  }
  void operator()(const Sample& sample) {
    out_.OpenList("readings");
    for (const Reading& reading : sample.readings) {
      out_.Open();
      out_.Number("subject", std::int64_t{reading.subject});
      const QuantityInfo* info = FindQuantity(reading.quantity);
      out_.Text("quantity", info == nullptr ? std::to_string(static_cast<int>(reading.quantity))
                                            : std::string(info->name));
      out_.Number("value", reading.value);
      out_.Close();
    }
    out_.CloseList();
  }
  void operator()(const SubjectSeen& seen) {
    out_.Number("id", std::int64_t{seen.id});
    out_.Text("of", NameIn(kSubjects, seen.subject.kind));
    out_.Text("name", seen.subject.name);
    out_.Number("number", seen.subject.number);
  }
  void operator()(const ProcessStart& start) {
    out_.Number("pid", start.pid);
    out_.Number("parent_pid", start.parent_pid);
    out_.Text("name", start.name);
    out_.Said("command", start.command);
  }
  void operator()(const ProcessEnd& ended) {
    out_.Number("pid", ended.pid);
    out_.Number("parent_pid", ended.parent_pid);
    out_.Text("name", ended.name);
    PutEnd(ended.end);
    out_.Number("rss_bytes_max", ended.rss_bytes_max);
    out_.Number("cpu_ms", ended.cpu_ms);
    out_.Flag("is_job", ended.is_job);
  }
  void operator()(const SignalSeen& seen) {
    out_.Number("signal", std::int64_t{seen.signal});
    out_.Number("sender_pid", seen.sender_pid);
    out_.Number("sender_uid", seen.sender_uid);
    out_.Text("sender_name", seen.sender_name);
    out_.Said("sender_command", seen.sender_command);
    out_.Flag("from_kernel", seen.from_kernel);
    out_.Flag("forwarded", seen.forwarded);
  }
  void operator()(const ClockTie& tie) {
    out_.Number("wall_ns", tie.wall.count());
    out_.Number("suspended_ns", tie.suspended.count());
  }
  void operator()(const KernelLine& line) { out_.Said("text", line.text); }
  void operator()(const LogFact& fact) {
    out_.Text("cause", fact.cause);
    out_.Text("role", NameIn(kLogRoles, fact.role));
    out_.Flag("fatal", fact.fatal);
    out_.Said("line", fact.line);
    PutPlace(fact.place, fact.rank);
    out_.Number("process", fact.process);
  }
  void operator()(const ExceptionSeen& seen) {
    out_.Text("type", seen.type);
    out_.Said("message", seen.message);
    out_.Flag("ended_process", seen.ended_process);
    out_.OpenList("frames");
    for (const Frame& frame : seen.frames) {
      out_.Open();
      out_.Text("file", frame.file);
      out_.Number("line", frame.line);
      out_.Text("function", frame.function);
      out_.Said("source", frame.source);
      out_.Flag("users_own", frame.users_own);
      out_.Close();
    }
    out_.CloseList();
    PutPlace(seen.place, seen.rank);
  }
  void operator()(const Scalar& scalar) {
    out_.Text("series", scalar.series);
    out_.Text("role", NameOf(scalar.role));
    out_.Number("value", scalar.value);
    out_.Number("step", scalar.step);
    out_.Number("epoch", scalar.epoch);
    PutPlace(scalar.place, scalar.rank);
  }
  void operator()(const Progress& progress) {
    out_.Number("epoch", progress.epoch);
    out_.Number("epochs_planned", progress.epochs_planned);
    out_.Number("step", progress.step);
    out_.Number("steps_planned", progress.steps_planned);
    PutPlace(progress.place, progress.rank);
  }
  void operator()(const TensorStats& stats) {
    out_.Text("what", NameIn(kStats, stats.what));
    out_.Text("tensor", stats.tensor);
    out_.Number("step", stats.step);
    out_.Number("count", static_cast<std::int64_t>(stats.count));
    out_.Number("nan", static_cast<std::int64_t>(stats.nan_count));
    out_.Number("inf", static_cast<std::int64_t>(stats.inf_count));
    out_.Number("zero", static_cast<std::int64_t>(stats.zero_count));
    out_.Number("min", stats.min);
    out_.Number("max", stats.max);
    out_.Number("sum", stats.sum);
    out_.Number("sum_squares", stats.sum_squares);
    out_.Number("abs_max", stats.abs_max);
    out_.Open("below");
    constexpr const char* kThresholdNames[] = {"2^-24", "2^-14", "2^-7", "1-2^-7", "2", "65520"};
    for (std::size_t i = 0; i < stats.below.size(); ++i) {
      out_.Number(kThresholdNames[i], static_cast<std::int64_t>(stats.below[i]));
    }
    out_.Close();
  }
  void operator()(const Observation& seen) {
    out_.Text("what", seen.kind);
    out_.Number("step", seen.step);
    PutPlace({}, seen.rank);
    out_.Open("attributes");
    for (const auto& [name, value] : seen.attributes) {
      if (const double* number = std::get_if<double>(&value)) {
        out_.Number(name, *number);
      } else {
        out_.Said(name, std::get<std::string>(value));
      }
    }
    out_.Close();
  }
  void operator()(const Drop& drop) {
    out_.Text("counter", drop.counter);
    out_.Number("count", drop.count);
  }
  void operator()(const RecorderNote& note) { out_.Said("text", note.text); }
  void operator()(const RunEnd& end) {
    PutEnd(end.end);
    if (end.duration) {
      out_.Number("duration_ns", end.duration->count());
    }
  }
  void operator()(const TextEnd& end) {
    out_.Text("how", NameIn(kTextEnds, end.kind));
    out_.Said("last_line", end.last_line);
    PutPlace(end.place, std::nullopt);
  }

 private:
  void PutEnd(const std::optional<ChildEnd>& end) {
    if (!end) {
      return;
    }
    if (end->kind() == ChildEnd::Kind::kSignaled) {
      out_.Number("signal", std::int64_t{end->signal()});
      out_.Flag("dumped_core", end->dumped_core());
    } else {
      out_.Number("code", std::int64_t{end->exit_code()});
    }
  }
  void PutPlace(const Place& place, std::optional<int> rank) {
    if (!place.file.empty()) {
      out_.Text("file", place.file);
    }
    if (place.line > 0) {
      out_.Number("line_number", place.line);
    }
    if (rank) {
      out_.Number("rank", std::int64_t{*rank});
    }
  }

  JsonWriter& out_;
};

}  // namespace

std::string_view KindOf(const Event& event) { return kKinds[event.body.index()]; }

std::string RenderEvent(const Event& event) {
  JsonWriter out;
  out.Open();
  out.Number("at_s", std::chrono::duration<double>(event.at).count());
  out.Text("kind", KindOf(event));
  std::visit(BodyJson(out), event.body);
  out.Close();
  return out.text() + "\n";
}

std::string RenderFinding(const Finding& finding) {
  JsonWriter out;
  out.Open();
  out.Number("at_s", std::chrono::duration<double>(finding.at).count());
  out.Text("detector", finding.detector);
  out.Text("series", finding.series);
  out.Number("step_from", finding.step_from);
  out.Number("step_to", finding.step_to);
  out.Number("strength", finding.strength);
  out.Open("facts");
  for (const Fact& fact : finding.facts) {
    if (fact.text.empty()) {
      out.Number(fact.name, fact.value);
    } else {
      out.Said(fact.name, fact.text);
    }
  }
  out.Close();
  out.Close();
  return out.text() + "\n";
}

}  // namespace whystop

#include "report/json_report.h"

#include <string_view>

#include "base/redact.h"
#include "report/json_writer.h"

namespace whystop {
namespace {

std::string_view NameOf(Evidence::Weight weight) {
  switch (weight) {
    case Evidence::Weight::kDecisive:
      return "decisive";
    case Evidence::Weight::kSupporting:
      return "supporting";
    case Evidence::Weight::kContradicting:
      return "contradicting";
    case Evidence::Weight::kMissing:
      break;
  }
  return "missing";
}

void WriteValues(JsonWriter& out, const std::vector<Fact>& values) {
  if (values.empty()) {
    return;
  }
  out.Open("values");
  for (const Fact& fact : values) {
    if (fact.text.empty()) {
      out.Number(fact.name, fact.value);
    } else {
      out.Said(fact.name, fact.text);
    }
  }
  out.Close();
}

void WriteEvidence(JsonWriter& out, const Evidence& evidence) {
  out.Open();
  out.Text("kind", evidence.kind);
  out.Text("weight", NameOf(evidence.weight));
  out.Said("text", evidence.text);
  if (!evidence.series.empty()) {
    out.Text("series", evidence.series);
  }
  out.Number("step_from", evidence.step_from);
  out.Number("step_to", evidence.step_to);
  WriteValues(out, evidence.values);
  if (!evidence.place.file.empty()) {
    out.Text("file", evidence.place.file);
    if (evidence.place.line > 0) {
      out.Number("line", evidence.place.line);
    }
  }
  out.Close();
}

void WriteCause(JsonWriter& out, const VerdictCause& cause) {
  out.Open();
  out.Text("id", cause.id);
  out.Text("title", cause.title);
  out.Text("role", Name(cause.role));
  out.Text("confidence", Name(cause.confidence));
  out.Text("answers", Name(cause.answers));
  out.Flag("fault", cause.fault);
  out.OpenList("evidence");
  for (const Evidence& evidence : cause.evidence) {
    WriteEvidence(out, evidence);
  }
  out.CloseList();
  out.Texts("fixes", cause.fixes);
  out.Close();
}

void WriteProgressAndExit(JsonWriter& out, const Verdict& verdict) {
  out.Open("progress");
  out.NumberOrNull("epoch", verdict.progress.epoch);
  out.NumberOrNull("epochs_planned", verdict.progress.epochs_planned);
  out.NumberOrNull("step", verdict.progress.step);
  out.NumberOrNull("steps_planned", verdict.progress.steps_planned);
  out.NumberOrNull("seconds", verdict.progress.seconds);
  out.Close();
  out.Open("exit");
  const auto whole = [](const std::optional<int>& value) {
    return value ? std::optional<std::int64_t>(*value) : std::nullopt;
  };
  out.NumberOrNull("code", whole(verdict.exit.code));
  out.NumberOrNull("signal", whole(verdict.exit.signal));
  if (verdict.exit.sent_by.empty()) {
    out.Null("sent_by");
  } else {
    out.Said("sent_by", verdict.exit.sent_by);
  }
  out.Close();
}

void WriteSurroundings(JsonWriter& out, const Verdict& verdict) {
  out.OpenList("ruled_out");
  for (const RuledOut& ruled_out : verdict.ruled_out) {
    out.Open();
    out.Text("what", ruled_out.what);
    out.Said("figure", ruled_out.figure);
    out.Close();
  }
  out.CloseList();
  out.OpenList("unknowns");
  for (const Unknown& unknown : verdict.unknowns) {
    out.Open();
    out.Text("what", unknown.what);
    out.Text("would_show", unknown.would_show);
    out.Close();
  }
  out.CloseList();
  out.Open("drops");
  for (const Drop& drop : verdict.drops) {
    out.Number(drop.counter, drop.count);
  }
  out.Close();
}

/// Left out where none was made, as in verdicts of versions that had no `try`.
void WriteTrials(JsonWriter& out, const std::vector<TrialResult>& trials) {
  if (trials.empty()) {
    return;
  }
  out.OpenList("trials");
  for (const TrialResult& trial : trials) {
    out.Open();
    out.Said("change", trial.change);
    out.Text("spec", trial.spec);
    if (!trial.cause.empty()) {
      out.Text("cause", trial.cause);
    }
    out.Text("result", Name(trial.says));
    out.Said("text", trial.text);
    if (!trial.recording.empty()) {
      out.Text("recording", trial.recording);
    }
    WriteValues(out, trial.values);
    out.Close();
  }
  out.CloseList();
}

}  // namespace

std::string RenderJson(const Verdict& verdict) {
  JsonWriter out(2);
  out.Open();
  out.Number("schema", std::int64_t{1});
  out.Text("outcome", Name(verdict.outcome));
  out.Text("learning", Name(verdict.learning));
  out.Said("headline", verdict.headline);
  out.Said("learning_text", verdict.learning_text);
  out.Text("learning_series", verdict.learning_series);
  WriteProgressAndExit(out, verdict);
  out.OpenList("account");
  for (const Balance& balance : verdict.account) {
    out.Open();
    out.Text("level", balance.level);
    out.NumberOrNull("planned", balance.planned);
    out.NumberOrNull("done", balance.done);
    out.Text("ended", balance.ended);
    out.Close();
  }
  out.CloseList();
  out.Texts("trainings", verdict.trainings);
  out.OpenList("causes");
  for (const VerdictCause& cause : verdict.causes) {
    WriteCause(out, cause);
  }
  out.CloseList();
  WriteSurroundings(out, verdict);
  WriteTrials(out, verdict.trials);
  out.Text("run", verdict.run_id);
  out.Texts("command", RedactSecrets(verdict.command));
  out.Texts("sources", verdict.sources);
  out.NumberOrNull("overhead", verdict.overhead);
  out.Close();
  return out.text() + "\n";
}

}  // namespace whystop

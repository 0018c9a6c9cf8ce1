#include "report/json_report.h"

#include <rapidjson/prettywriter.h>
#include <rapidjson/stringbuffer.h>

#include <cmath>
#include <string_view>

namespace whystop {
namespace {

using Writer = rapidjson::PrettyWriter<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>>;

/// Log lines may hold any bytes; JSON must be UTF-8. Each byte that is not becomes U+FFFD.
std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  std::size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const std::size_t length = lead < 0x80 ? 1 : lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3
                               : lead >= 0xf0 && lead < 0xf5                 ? 4
                                                                             : 0;
    bool sound = length > 0 && i + length <= text.size();
    for (std::size_t k = 1; sound && k < length; ++k) {
      sound = (static_cast<unsigned char>(text[i + k]) & 0xc0) == 0x80;
    }
    if (sound && length == 3) {
      const auto second = static_cast<unsigned char>(text[i + 1]);
      sound = !(lead == 0xe0 && second < 0xa0) && !(lead == 0xed && second >= 0xa0);
    }
    out += sound ? std::string(text.substr(i, length)) : "\xef\xbf\xbd";
    i += sound ? length : 1;
  }
  return out;
}

void Text(Writer& out, const char* key, std::string_view text) {
  const std::string valid = ValidUtf8(text);
  out.Key(key);
  out.String(valid.data(), static_cast<rapidjson::SizeType>(valid.size()));
}

/// Non-finite numbers have no place in JSON: they go as "NaN", "Infinity", "-Infinity".
void Number(Writer& out, double value) {
  if (std::isfinite(value)) {
    out.Double(value);
  } else {
    out.String(std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
  }
}

template <typename T>
void Optional(Writer& out, const char* key, const std::optional<T>& value) {
  out.Key(key);
  if (!value) {
    out.Null();
  } else if constexpr (std::is_floating_point_v<T>) {
    Number(out, *value);
  } else {
    out.Int64(*value);
  }
}

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

void WriteEvidence(Writer& out, const Evidence& evidence) {
  out.StartObject();
  Text(out, "kind", evidence.kind);
  Text(out, "weight", NameOf(evidence.weight));
  Text(out, "text", evidence.text);
  if (!evidence.series.empty()) {
    Text(out, "series", evidence.series);
  }
  if (evidence.step_from || evidence.step_to) {
    out.Key("steps");
    out.StartArray();
    out.Int64(evidence.step_from.value_or(evidence.step_to.value_or(0)));
    out.Int64(evidence.step_to.value_or(evidence.step_from.value_or(0)));
    out.EndArray();
  }
  if (!evidence.values.empty()) {
    out.Key("values");
    out.StartObject();
    for (const Fact& fact : evidence.values) {
      if (fact.text.empty()) {
        out.Key(fact.name.c_str());
        Number(out, fact.value);
      } else {
        Text(out, fact.name.c_str(), fact.text);
      }
    }
    out.EndObject();
  }
  if (!evidence.place.file.empty()) {
    Text(out, "file", evidence.place.file);
    if (evidence.place.line > 0) {
      out.Key("line");
      out.Int64(evidence.place.line);
    }
  }
  out.EndObject();
}

void WriteCause(Writer& out, const VerdictCause& cause) {
  out.StartObject();
  Text(out, "id", cause.id);
  Text(out, "title", cause.title);
  Text(out, "role", Name(cause.role));
  Text(out, "confidence", Name(cause.confidence));
  Text(out, "answers", Name(cause.answers));
  out.Key("fault");
  out.Bool(cause.fault);
  out.Key("evidence");
  out.StartArray();
  for (const Evidence& evidence : cause.evidence) {
    WriteEvidence(out, evidence);
  }
  out.EndArray();
  out.Key("fixes");
  out.StartArray();
  for (const std::string& fix : cause.fixes) {
    out.String(ValidUtf8(fix).c_str());
  }
  out.EndArray();
  out.EndObject();
}

void WriteTexts(Writer& out, const char* key, const std::vector<std::string>& texts) {
  out.Key(key);
  out.StartArray();
  for (const std::string& text : texts) {
    out.String(ValidUtf8(text).c_str());
  }
  out.EndArray();
}

void WriteProgressAndExit(Writer& out, const Verdict& verdict) {
  out.Key("progress");
  out.StartObject();
  Optional(out, "epoch", verdict.progress.epoch);
  Optional(out, "epochs_planned", verdict.progress.epochs_planned);
  Optional(out, "step", verdict.progress.step);
  Optional(out, "steps_planned", verdict.progress.steps_planned);
  Optional(out, "seconds", verdict.progress.seconds);
  out.EndObject();
  out.Key("exit");
  out.StartObject();
  Optional(out, "code", verdict.exit.code);
  Optional(out, "signal", verdict.exit.signal);
  out.Key("sent_by");
  if (verdict.exit.sent_by.empty()) {
    out.Null();
  } else {
    out.String(ValidUtf8(verdict.exit.sent_by).c_str());
  }
  out.EndObject();
}

void WriteSurroundings(Writer& out, const Verdict& verdict) {
  out.Key("ruled_out");
  out.StartArray();
  for (const RuledOut& ruled_out : verdict.ruled_out) {
    out.StartObject();
    Text(out, "what", ruled_out.what);
    Text(out, "figure", ruled_out.figure);
    out.EndObject();
  }
  out.EndArray();
  out.Key("unknowns");
  out.StartArray();
  for (const Unknown& unknown : verdict.unknowns) {
    out.StartObject();
    Text(out, "what", unknown.what);
    Text(out, "would_show", unknown.would_show);
    out.EndObject();
  }
  out.EndArray();
  out.Key("drops");
  out.StartObject();
  for (const Drop& drop : verdict.drops) {
    out.Key(drop.counter.c_str());
    out.Int64(drop.count);
  }
  out.EndObject();
}

}  // namespace

std::string RenderJson(const Verdict& verdict) {
  rapidjson::StringBuffer buffer;
  Writer out(buffer);
  out.SetIndent(' ', 2);
  out.StartObject();
  out.Key("schema");
  out.Int(1);
  Text(out, "outcome", Name(verdict.outcome));
  Text(out, "learning", Name(verdict.learning));
  Text(out, "headline", verdict.headline);
  Text(out, "learning_text", verdict.learning_text);
  WriteProgressAndExit(out, verdict);
  out.Key("causes");
  out.StartArray();
  for (const VerdictCause& cause : verdict.causes) {
    WriteCause(out, cause);
  }
  out.EndArray();
  WriteSurroundings(out, verdict);
  Text(out, "run", verdict.run_id);
  WriteTexts(out, "command", verdict.command);
  WriteTexts(out, "sources", verdict.sources);
  Optional(out, "overhead", verdict.overhead);
  out.EndObject();
  return std::string(buffer.GetString(), buffer.GetSize()) + "\n";
}

}  // namespace whystop

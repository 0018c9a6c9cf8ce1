#include "try/source_fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "base/fd.h"
#include "base/human.h"
#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kSourceBytesMax = 4 << 20;
constexpr std::size_t kStatementLines = 8;
constexpr std::size_t kContext = 2;

struct Spot {
  std::string file;
  std::size_t line = 0;  // From 1.
};

std::optional<Spot> SpotOf(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  const auto line = ParseWhole<std::size_t>(std::string_view(text).substr(colon + 1));
  return line && *line > 0 ? std::optional(Spot{text.substr(0, colon), *line}) : std::nullopt;
}

std::vector<std::string> LinesOf(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::string Joined(const std::vector<std::string>& lines, const std::string& like) {
  std::string text;
  for (const std::string& line : lines) {
    text += line + "\n";
  }
  if (!like.empty() && like.back() != '\n' && !text.empty()) {
    text.pop_back();
  }
  return text;
}

bool IsWord(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

struct Literal {
  std::size_t at = 0;
  std::size_t size = 0;
};

/// Where a number of this value is written in a line, comments left out.
std::vector<Literal> LiteralsOf(const std::string& line, double value) {
  std::vector<Literal> found;
  const std::size_t end = std::min(line.find('#'), line.size());
  for (std::size_t at = 0; at < end;) {
    if (std::isdigit(static_cast<unsigned char>(line[at])) == 0 || (at > 0 && (IsWord(line[at - 1]) || line[at - 1] == '.'))) {
      ++at;
      continue;
    }
    std::size_t stop = at;
    while (stop < end && (std::isalnum(static_cast<unsigned char>(line[stop])) != 0 || line[stop] == '.' ||
                          ((line[stop] == '-' || line[stop] == '+') && (line[stop - 1] == 'e' || line[stop - 1] == 'E')))) {
      ++stop;
    }
    const auto number = ParseWhole<double>(std::string_view(line).substr(at, stop - at));
    if (number && std::abs(*number - value) <= 1e-9 * std::abs(value)) {
      found.push_back({at, stop - at});
    }
    at = stop;
  }
  return found;
}

bool SpeaksOfRate(const std::string& line) {
  for (const std::string_view name : {"lr", "LR", "learning_rate", "LEARNING_RATE", "learning-rate"}) {
    for (std::size_t at = line.find(name); at != std::string::npos; at = line.find(name, at + 1)) {
      const bool starts = at == 0 || !std::isalpha(static_cast<unsigned char>(line[at - 1]));
      const std::size_t after = at + name.size();
      if (starts && (after == line.size() || !std::isalpha(static_cast<unsigned char>(line[after])))) {
        return true;
      }
    }
  }
  return false;
}

/// The one number that is the rate: in the optimizer's constructor, else in a line that speaks of it.
bool ReplaceRate(std::vector<std::string>& lines, std::size_t line, double from, const std::string& to) {
  for (const bool constructor : {true, false}) {
    std::vector<std::pair<std::size_t, Literal>> found;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool here = constructor ? i + 1 >= line && i + 1 < line + kStatementLines : true;
      if (here && SpeaksOfRate(lines[i])) {
        for (const Literal& literal : LiteralsOf(lines[i], from)) {
          found.emplace_back(i, literal);
        }
      }
    }
    if (found.size() == 1) {
      lines[found[0].first].replace(found[0].second.at, found[0].second.size, to);
      return true;
    }
    if (!found.empty()) {
      return false;  // Which of them is not known for sure.
    }
  }
  return false;
}

/// "    opt.step()" -> "opt".
std::string OwnerOfStep(const std::string& line) {
  const std::size_t dot = line.find(".step(");
  std::size_t start = dot;
  while (dot != std::string::npos && start > 0 && (IsWord(line[start - 1]) || line[start - 1] == '.')) {
    --start;
  }
  return dot == std::string::npos ? "" : line.substr(start, dot - start);
}

bool InsertZeroGrad(std::vector<std::string>& lines, const Trial& as_is) {
  const auto backward = SpotOf(as_is.Text("backward_at"));
  const auto step = SpotOf(as_is.Text("step_at"));
  if (!backward || !step || backward->file != step->file || backward->line > lines.size() || step->line > lines.size()) {
    return false;
  }
  const std::string& line = lines[backward->line - 1];
  const std::string owner = OwnerOfStep(lines[step->line - 1]);
  if (owner.empty() || line.find("backward(") == std::string::npos) {
    return false;
  }
  const std::string indent = line.substr(0, line.find_first_not_of(" \t"));
  lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(backward->line) - 1, indent + owner + ".zero_grad()");
  return true;
}

/// An argument of a call that is written in one line: set, or added at its end.
bool SetArgument(std::vector<std::string>& lines, std::size_t line, const std::string& callee, const std::string& name, const std::string& value) {
  if (line == 0 || line > lines.size()) {
    return false;
  }
  std::string& text = lines[line - 1];
  const std::size_t call = text.find(callee + "(");
  if (call == std::string::npos || text.find(callee + "(", call + 1) != std::string::npos) {
    return false;
  }
  int depth = 0;
  for (std::size_t at = call + callee.size(); at < text.size(); ++at) {
    depth += text[at] == '(' || text[at] == '[' ? 1 : text[at] == ')' || text[at] == ']' ? -1 : 0;
    if (depth == 0) {
      const std::size_t old = text.find(name + "=", call);
      if (old != std::string::npos && old < at) {
        const std::size_t from = old + name.size() + 1;
        const std::size_t end = std::min(text.find_first_of(",)", from), text.size());
        text.replace(from, end - from, value);
      } else {
        text.insert(at, ", " + name + "=" + value);
      }
      return true;
    }
  }
  return false;
}

std::string DiffOf(const std::string& file, const std::vector<std::string>& before, const std::vector<std::string>& after) {
  std::size_t first = 0;
  while (first < before.size() && first < after.size() && before[first] == after[first]) {
    ++first;
  }
  std::size_t same = 0;
  while (same < before.size() - first && same < after.size() - first &&
         before[before.size() - 1 - same] == after[after.size() - 1 - same]) {
    ++same;
  }
  const std::size_t from = first > kContext ? first - kContext : 0;
  const std::size_t old_end = std::min(before.size(), before.size() - same + kContext);
  const std::size_t new_end = std::min(after.size(), after.size() - same + kContext);
  std::string text = fmt::format("--- {0}\n+++ {0}\n@@ -{1},{2} +{1},{3} @@\n", file, from + 1, old_end - from, new_end - from);
  for (std::size_t i = from; i < first; ++i) text += " " + before[i] + "\n";
  for (std::size_t i = first; i < before.size() - same; ++i) text += "-" + before[i] + "\n";
  for (std::size_t i = first; i < after.size() - same; ++i) text += "+" + after[i] + "\n";
  for (std::size_t i = before.size() - same; i < old_end; ++i) text += " " + before[i] + "\n";
  return text;
}

/// Which place of the survey the fix of this trial belongs to.
std::string PlaceFor(const Proof& proof, const Trial& as_is) {
  const bool loader = proof.spec == "shuffle" || proof.spec == "drop-last";
  return loader ? as_is.Text("loader_at") : proof.spec == "zero-grad" ? as_is.Text("backward_at") : as_is.Text("optimizer_at");
}

}  // namespace

std::optional<SourceFix> FixIn(const std::string& file, const std::string& text, const Proof& proof,
                               const Trial& as_is, const Trial& proven) {
  const auto spot = SpotOf(PlaceFor(proof, as_is));
  if (!spot || spot->file != file) {
    return std::nullopt;
  }
  const std::vector<std::string> before = LinesOf(text);
  std::vector<std::string> after = before;
  bool done = false;
  if (proof.spec.substr(0, 2) == "lr" && proof.spec != "lr-hold") {
    const std::size_t arrow = proven.facts.find(" -> ");
    const auto from = arrow == std::string::npos ? std::nullopt : ParseWhole<double>(std::string_view(proven.facts).substr(0, arrow));
    done = from && ReplaceRate(after, spot->line, as_is.survey.contains("lr") ? as_is.Seen("lr") : *from, proven.facts.substr(arrow + 4));
  } else if (proof.spec == "zero-grad") {
    done = InsertZeroGrad(after, as_is);
  } else if (proof.spec == "shuffle") {
    done = SetArgument(after, spot->line, "DataLoader", "shuffle", "True");
  } else if (proof.spec == "drop-last") {
    done = SetArgument(after, spot->line, "DataLoader", "drop_last", "True");
  } else if (proof.spec == "weight-decay=0") {
    const std::size_t line = spot->line;
    const std::string whole = line <= before.size() ? before[line - 1] : "";
    const std::size_t at = whole.find("weight_decay=");
    if (at != std::string::npos) {
      const std::size_t value = at + 13;
      after[line - 1].replace(value, std::min(whole.find_first_of(",)", value), whole.size()) - value, "0");
      done = true;
    }
  }
  if (!done || after == before) {
    return std::nullopt;
  }
  return SourceFix{file, text, Joined(after, text), DiffOf(file, before, after)};
}

std::optional<SourceFix> FindSourceFix(const Proof& proof, const Trial& as_is, const Trial& proven) {
  const auto spot = SpotOf(PlaceFor(proof, as_is));
  if (!spot) {
    return std::nullopt;
  }
  const auto text = ReadFile(spot->file, kSourceBytesMax);
  return text ? FixIn(spot->file, *text, proof, as_is, proven) : std::nullopt;
}

}  // namespace whystop

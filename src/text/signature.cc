#include "text/signature.h"

#include <array>

namespace whystop {

extern const std::string_view kSignatureTable;

namespace {

std::string_view TakeUpTo(std::string_view& text, char end) {
  const std::size_t at = text.find(end);
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return taken;
}

template <typename T, std::size_t N>
bool Lookup(const std::array<std::pair<std::string_view, T>, N>& names, std::string_view name,
            T& out) {
  for (const auto& [known, value] : names) {
    if (known == name) {
      out = value;
      return true;
    }
  }
  return false;
}

bool ParseRow(std::string_view row, Signature& out) {
  using Kind = Signature::Kind;
  using Severity = Signature::Severity;
  using Role = LogFact::Role;
  static constexpr std::array<std::pair<std::string_view, Kind>, 3> kKinds = {
      {{"lit", Kind::kLiteral}, {"re", Kind::kRegex}, {"line", Kind::kWholeLine}}};
  static constexpr std::array<std::pair<std::string_view, Severity>, 4> kSeverities = {
      {{"info", Severity::kInfo},
       {"warn", Severity::kWarn},
       {"error", Severity::kError},
       {"fatal", Severity::kFatal}}};
  static constexpr std::array<std::pair<std::string_view, Role>, 6> kRoles = {
      {{"root", Role::kRoot},
       {"confirm", Role::kConfirm},
       {"cascade", Role::kCascade},
       {"context", Role::kContext},
       {"noise", Role::kNoise},
       {"normal", Role::kNormal}}};
  out.cause = TakeUpTo(row, '\t');
  const bool kind = Lookup(kKinds, TakeUpTo(row, '\t'), out.kind);
  out.pattern = TakeUpTo(row, '\t');
  const bool severity = Lookup(kSeverities, TakeUpTo(row, '\t'), out.severity);
  const bool role = Lookup(kRoles, TakeUpTo(row, '\t'), out.role);
  out.generic = TakeUpTo(row, '\t') == "generic";
  out.example = row;
  return kind && severity && role && !out.cause.empty() && !out.pattern.empty() &&
         !out.example.empty();
}

/// Skips a character class or group that starts at `at`; returns the position after it.
std::size_t SkipClass(std::string_view pattern, std::size_t at) {
  at += pattern.substr(at).starts_with("[^") ? 2 : 1;
  at += at < pattern.size() && pattern[at] == ']' ? 1 : 0;
  while (at < pattern.size() && pattern[at] != ']') {
    at += pattern[at] == '\\' ? 2 : 1;
  }
  return at + 1;
}

std::size_t SkipGroup(std::string_view pattern, std::size_t at) {
  int depth = 0;
  while (at < pattern.size()) {
    if (pattern[at] == '\\') {
      at += 2;
    } else if (pattern[at] == '[') {
      at = SkipClass(pattern, at);
    } else {
      depth += pattern[at] == '(' ? 1 : pattern[at] == ')' ? -1 : 0;
      ++at;
      if (depth == 0) {
        return at;
      }
    }
  }
  return at;
}

/// Collects the runs of plain characters of a regular expression that stand outside groups and
/// choices.
class LiteralRuns {
 public:
  std::string Longest(std::string_view pattern) {
    if (pattern.starts_with("(?")) {
      return {};  // Flags change what a character means.
    }
    for (std::size_t at = 0; at < pattern.size();) {
      at = Step(pattern, at);
    }
    Cut();
    return choice_ ? std::string() : best_;
  }

 private:
  std::size_t Step(std::string_view pattern, std::size_t at) {
    const char letter = pattern[at];
    if (letter == '\\' && at + 1 < pattern.size()) {
      const char escaped = pattern[at + 1];
      if ((escaped >= 'a' && escaped <= 'z') || (escaped >= 'A' && escaped <= 'Z')) {
        Cut();  // A class such as \d, or an assertion such as \b.
      } else {
        run_.push_back(escaped);
      }
      return at + 2;
    }
    switch (letter) {
      case '(':
        Cut();
        return SkipGroup(pattern, at);
      case '[':
        Cut();
        return SkipClass(pattern, at);
      case '*':
      case '?':
      case '{':
        if (!run_.empty()) {
          run_.pop_back();  // It may be missing.
        }
        Cut();
        return letter == '{' ? pattern.find('}', at) + 1 : at + 1;
      case '|':
        choice_ = true;
        return at + 1;
      case '+':
      case '.':
      case '^':
      case '$':
        Cut();
        return at + 1;
      default:
        run_.push_back(letter);
        return at + 1;
    }
  }

  void Cut() {
    if (run_.size() > best_.size()) {
      best_ = run_;
    }
    run_.clear();
  }

  std::string run_;
  std::string best_;
  bool choice_ = false;
};

}  // namespace

std::vector<Signature> ParseSignatures(std::string_view table, std::vector<std::string>& faults) {
  std::vector<Signature> out;
  while (!table.empty()) {
    const std::string_view row = TakeUpTo(table, '\n');
    if (row.empty() || row.starts_with('#') || row.starts_with("cause\t")) {
      continue;
    }
    Signature signature;
    if (ParseRow(row, signature)) {
      out.push_back(signature);
    } else {
      faults.emplace_back(row);
    }
  }
  return out;
}

std::span<const Signature> AllSignatures() {
  static const std::vector<Signature> kAll = [] {
    std::vector<std::string> faults;  // None: signature_test.cc reads the same table.
    return ParseSignatures(kSignatureTable, faults);
  }();
  return kAll;
}

std::string RequiredLiteral(const Signature& signature) {
  return signature.kind == Signature::Kind::kRegex ? LiteralRuns().Longest(signature.pattern)
                                                   : std::string(signature.pattern);
}

}  // namespace whystop

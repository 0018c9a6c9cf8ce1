#include "supervise/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace whystop {
namespace {

constexpr std::string_view kHidden = "***";

std::string Lowered(std::string_view text) {
  std::string lowered;
  for (const char c : text) {
    lowered += c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return lowered;
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

/// Does the name of an option or variable say that its value is secret? "--max-tokens" and
/// "--tokenizer" do not.
bool NamesASecret(std::string_view raw_name) {
  constexpr std::array<std::string_view, 11> kEnds = {
      "password", "passwd",     "passphrase", "secret",      "token",      "api_key",
      "apikey",   "access_key", "secret_key", "private_key", "credentials"};
  const std::string name = Lowered(raw_name);
  // Vocabulary of language models, not of security.
  constexpr std::array<std::string_view, 6> kHarmless = {"pad_token", "eos_token",  "bos_token",
                                                         "unk_token", "mask_token", "sep_token"};
  const auto ends = [&](std::string_view end) { return EndsWith(name, end); };
  return std::any_of(kEnds.begin(), kEnds.end(), ends) &&
         std::none_of(kHarmless.begin(), kHarmless.end(), ends);
}

/// Tokens that services hand out with a recognisable beginning.
bool LooksLikeAToken(std::string_view value) {
  constexpr std::array<std::string_view, 9> kBeginnings = {
      "hf_", "sk-", "ghp_", "gho_", "github_pat_", "xoxb", "glpat-", "AKIA", "wandb_v1_"};
  return value.size() >= 16 &&
         std::any_of(kBeginnings.begin(), kBeginnings.end(), [&](std::string_view beginning) {
           return value.substr(0, beginning.size()) == beginning;
         });
}

/// "https://user:password@host/..." keeps all but the password.
void HideUrlPassword(std::string& argument) {
  const std::size_t scheme = argument.find("://");
  if (scheme == std::string::npos) {
    return;
  }
  const std::size_t start = scheme + 3;
  const std::size_t host = argument.find('@', start);
  const std::size_t colon = argument.find(':', start);
  if (host != std::string::npos && colon < host && argument.find('/', start) > host) {
    argument.replace(colon + 1, host - colon - 1, kHidden);
  }
}

}  // namespace

std::vector<std::string> RedactSecrets(std::vector<std::string> arguments) {
  bool value_follows = false;
  for (std::string& argument : arguments) {
    if (value_follows && !argument.empty() && argument.front() != '-') {
      argument = kHidden;
      value_follows = false;
      continue;
    }
    value_follows = false;
    const std::size_t equals = argument.find('=');
    if (equals != std::string::npos) {
      if (NamesASecret(std::string_view(argument).substr(0, equals)) ||
          LooksLikeAToken(std::string_view(argument).substr(equals + 1))) {
        argument.replace(equals + 1, std::string::npos, kHidden);
        continue;
      }
    } else if (argument.size() > 1 && argument.front() == '-') {
      value_follows = NamesASecret(argument);
    } else if (LooksLikeAToken(argument)) {
      argument = kHidden;
    }
    HideUrlPassword(argument);
  }
  return arguments;
}

}  // namespace whystop

#include "base/redact.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <utility>

namespace whystop {
namespace {

constexpr std::string_view kHidden = "***";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLower(char c) { return c >= 'a' && c <= 'z'; }
bool IsUpper(char c) { return c >= 'A' && c <= 'Z'; }
bool IsLetter(char c) { return IsLower(c) || IsUpper(c); }
bool IsWordByte(char c) { return IsLetter(c) || IsDigit(c); }
char Lower(char c) { return IsUpper(c) ? static_cast<char>(c + ('a' - 'A')) : c; }

template <std::size_t kCount>
bool IsOneOf(std::string_view word, const std::array<std::string_view, kCount>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "++model.hfToken_2" is {model, hf, token}: small letters, without numbers.
std::vector<std::string> WordsOf(std::string_view name) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    while (!word.empty() && IsDigit(word.back())) {
      word.pop_back();
    }
    if (!word.empty()) {
      words.push_back(word);
    }
    word.clear();
  };
  for (std::size_t at = 0; at < name.size(); ++at) {
    const char c = name[at];
    const bool starts_word = IsUpper(c) && at > 0 && IsLower(name[at - 1]);
    if (!IsWordByte(c) || starts_word) {
      end_word();
    }
    if (IsWordByte(c)) {
      word += Lower(c);
    }
  }
  end_word();
  return words;
}

/// What a value after one of these names is, whatever stands before it.
constexpr std::array<std::string_view, 45> kSecretWords = {
    "password",     "passwd",      "pass",          "pwd",        "passphrase", "passcode",
    "pw",           "secret",      "secrets",       "credential", "credentials", "creds",
    "cred",         "apikey",      "authorization", "auth",       "bearer",     "otp",
    "totp",         "cookie",      "sessionid",     "sig",        "signature",  "webhook",
    "dsn",          "pat",         "jwt",           "privatekey", "accesskey",  "secretkey",
    "authtoken",    "accesstoken", "apitoken",      "userpass",   "userpwd",    "dbpass",
    "dbpassword",   "dbpwd",       "mysqlpwd",      "pgpassword", "netrc",      "sshpass",
    "refreshtoken", "idtoken",     "sastoken"};

/// "key" is secret behind these; alone, or behind "sort" or "metric", it is not.
constexpr std::array<std::string_view, 52> kKeyOwners = {
    "api",      "access",    "secret",   "private",  "encryption", "signing",   "account",
    "storage",  "service",   "auth",     "client",   "master",     "license",   "ssh",
    "deploy",   "wandb",     "aws",      "openai",   "hf",         "huggingface", "comet",
    "neptune",  "clearml",   "mlflow",   "anthropic", "azure",     "gcp",       "google",
    "kaggle",   "ngc",       "replicate", "cohere",  "mistral",    "gemini",    "together",
    "groq",     "roboflow",  "nvidia",   "s",        "b",          "minio",     "subscription",
    "app",      "application", "server", "user",     "db",         "vault",     "pinecone",
    "datadog",  "dd",        "stripe"};

/// Vocabulary of language models, not of security.
constexpr std::array<std::string_view, 44> kTokenHarmless = {
    "max",    "min",     "num",   "n",      "pad",      "eos",       "bos",    "unk",    "mask",
    "sep",    "cls",     "special", "per",  "image",    "start",     "end",    "stop",   "trigger",
    "new",    "placeholder", "instance", "class", "count", "type",   "length", "len",    "limit",
    "budget", "size",    "drop",  "prefix", "suffix",   "added",     "split",  "loss",   "dim",
    "merge",  "video",   "audio", "mean",   "first",    "last",      "next",   "word"};

bool AnyOf(const std::vector<std::string>& words, const auto& list) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return IsOneOf(word, list); });
}

/// Values that reveal nothing: switches, references to where the secret is.
bool IsHarmlessValue(std::string_view value) {
  constexpr std::array<std::string_view, 9> kSwitches = {"true", "false", "none", "null", "yes",
                                                         "no",   "on",    "off",  ""};
  std::string lowered;
  for (const char c : value) {
    lowered += Lower(c);
  }
  return IsOneOf(lowered, kSwitches) || value == kHidden ||
         (value.size() > 1 && value.front() == '$' && (IsLetter(value[1]) || value[1] == '{'));
}

struct Shape {
  std::string_view beginning;
  std::size_t bytes_min;
};
/// Keys that providers hand out with a recognisable beginning.
constexpr std::array<Shape, 57> kShapes = {{
    {"hf_", 16},      {"api_org_", 20}, {"sk-", 16},      {"sk_live_", 16}, {"sk_test_", 16},
    {"rk_live_", 16}, {"pk_live_", 16}, {"ghp_", 16},     {"gho_", 16},     {"ghu_", 16},
    {"ghs_", 16},     {"ghr_", 16},     {"github_pat_", 20}, {"glpat-", 16}, {"gldt-", 16},
    {"glrt-", 16},    {"xoxb-", 16},    {"xoxp-", 16},    {"xoxa-", 16},    {"xoxr-", 16},
    {"xoxs-", 16},    {"xapp-", 16},    {"AIza", 30},     {"ya29.", 20},    {"GOCSPX-", 16},
    {"eyJ", 40},      {"wandb_v1_", 16}, {"npm_", 20},    {"pypi-", 20},    {"dop_v1_", 20},
    {"SG.", 20},      {"shpat_", 16},   {"shpss_", 16},   {"key-", 30},     {"r8_", 16},
    {"gsk_", 16},     {"nvapi-", 16},   {"pplx-", 16},    {"tgp_v1_", 16},  {"dckr_pat_", 16},
    {"lin_api_", 16}, {"NRAK-", 16},    {"sq0atp-", 16},  {"sq0csp-", 16},  {"EAAC", 40},
    {"ATATT", 30},    {"glsa_", 16},    {"hvs.", 20},     {"hvb.", 20},     {"AGE-SECRET-KEY-", 20},
    {"dapi", 32},     {"AccountKey=", 20}, {"xai-", 20},  {"fw_", 20},      {"esecret_", 16},
    {"anyscale_", 20}, {"secret_", 24},
}};

bool StartsWith(std::string_view text, std::string_view beginning) {
  return text.substr(0, beginning.size()) == beginning;
}

bool IsKeyByte(char c) {
  return IsWordByte(c) || c == '_' || c == '-' || c == '.' || c == '+' || c == '/' || c == '=';
}

/// "AKIAIOSFODNN7EXAMPLE": Amazon's.
bool IsAmazonKey(std::string_view word) {
  return word.size() == 20 && (StartsWith(word, "AKIA") || StartsWith(word, "ASIA")) &&
         std::all_of(word.begin(), word.end(), [](char c) { return IsUpper(c) || IsDigit(c); });
}

/// Letters of both cases and digits in turn, as no name has them: "x9Kd2Lq0PzR7..." changes between
/// them at six of ten places, "ResNet50Imagenet1kV2" at five.
bool LooksRandom(std::string_view word, std::size_t run_min) {
  std::size_t run = 0, changes = 0;
  bool lower = false, upper = false, digit = false;
  for (std::size_t at = 0; at <= word.size(); ++at) {
    const char c = at < word.size() ? word[at] : ' ';
    if (!IsWordByte(c)) {
      if (run >= run_min && lower && upper && digit && 2 * changes > run) {
        return true;
      }
      run = changes = 0;
      lower = upper = digit = false;
      continue;
    }
    const auto kind = [](char byte) { return IsDigit(byte) ? 0 : IsUpper(byte) ? 1 : 2; };
    changes += run > 0 && kind(c) != kind(word[at - 1]) ? 1 : 0;
    ++run;
    lower = lower || IsLower(c);
    upper = upper || IsUpper(c);
    digit = digit || IsDigit(c);
  }
  return false;
}

bool IsHex(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return IsDigit(c) || (Lower(c) >= 'a' && Lower(c) <= 'f');
  });
}

bool HasSecretShape(std::string_view word) {
  constexpr std::size_t kRunMin = 20;
  const bool known = std::any_of(kShapes.begin(), kShapes.end(), [&](const Shape& shape) {
    return word.size() >= shape.bytes_min && StartsWith(word, shape.beginning) &&
           std::all_of(word.begin(), word.end(), IsKeyByte);
  });
  return known || IsAmazonKey(word) || LooksRandom(word, kRunMin);
}

/// A value behind a name that may or may not be secret ("--key"): random enough?
bool MayBeAKey(std::string_view value) {
  constexpr std::size_t kHexMin = 16, kRunMin = 12;
  return (value.size() >= kHexMin && IsHex(value)) || LooksRandom(value, kRunMin) ||
         HasSecretShape(value);
}

bool IsSecretBehind(std::string_view name, std::string_view value) {
  if (IsHarmlessValue(value)) {
    return false;
  }
  if (NamesASecret(name)) {
    return true;
  }
  const std::vector<std::string> words = WordsOf(name);
  const bool may = !words.empty() && (words.back() == "key" || words.back() == "token" ||
                                      words.back() == "tokens" || words.back() == "keys");
  return may && MayBeAKey(value);
}

/// "https://user:password@host/" and "https://TOKEN@host/" keep all but the secret.
void HideInAddresses(std::string& text) {
  for (std::size_t scheme = text.find("://"); scheme != std::string::npos;
       scheme = text.find("://", scheme + 3)) {
    const std::size_t start = scheme + 3;
    const std::size_t end = std::min(text.find_first_of(" \t\r\n\"'<>/?#", start), text.size());
    const std::size_t at = std::string_view(text).substr(start, end - start).rfind('@');
    if (at == std::string::npos) {
      continue;
    }
    const std::size_t host = start + at;
    const std::size_t colon = text.find(':', start);
    const bool is_web = scheme >= 4 && (text.compare(scheme - 4, 4, "http") == 0 ||
                                        text.compare(scheme - 4, 4, "ttps") == 0);
    if (colon < host) {
      const bool user_is_secret = HasSecretShape(std::string_view(text).substr(start, colon - start));
      const std::size_t from = user_is_secret ? start : colon + 1;
      text.replace(from, host - from, kHidden);
    } else if (is_web || HasSecretShape(std::string_view(text).substr(start, host - start))) {
      text.replace(start, host - start, kHidden);
    }
  }
}

/// "Bearer abc", "Basic dXNlcjpwYXNz", "token ghp_...": what follows an authentication scheme.
void HideBehindSchemes(std::string& text) {
  constexpr std::array<std::string_view, 4> kSchemes = {"bearer ", "basic ", "digest ", "negotiate "};
  constexpr std::size_t kValueMin = 8;
  std::string lowered;
  std::transform(text.begin(), text.end(), std::back_inserter(lowered), Lower);
  for (const std::string_view scheme : kSchemes) {
    for (std::size_t at = lowered.find(scheme); at != std::string::npos;
         at = lowered.find(scheme, at + 1)) {
      const std::size_t start = at + scheme.size();
      const std::size_t end = std::min(text.find_first_of(" \t\r\n\"',;", start), text.size());
      const std::string_view value = std::string_view(text).substr(start, end - start);
      const bool word_begins = at == 0 || !IsLetter(text[at - 1]);
      // "basic training" is no header: a credential has a digit, a capital or a sign in it.
      const bool is_plain = std::all_of(value.begin(), value.end(), IsLower);
      if (word_begins && value.size() >= kValueMin && !is_plain) {
        text.replace(start, end - start, kHidden);
        lowered.replace(start, end - start, kHidden);
      }
    }
  }
}

/// Where the name that ends before `at` begins: letters, digits and what joins them.
std::size_t NameStart(std::string_view text, std::size_t at) {
  while (at > 0 && (IsWordByte(text[at - 1]) || text[at - 1] == '_' || text[at - 1] == '-' ||
                    text[at - 1] == '.')) {
    --at;
  }
  return at;
}

struct Span {
  std::size_t start, end;
};

/// The value behind the separator at `at`: quoted, or up to the next delimiter.
Span ValueAt(std::string_view text, std::size_t at, bool to_the_end) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) {
    ++at;
  }
  std::size_t quote = at;
  if (quote + 1 < text.size() && text[quote] == '\\') {
    ++quote;
  }
  if (quote < text.size() && (text[quote] == '"' || text[quote] == '\'')) {
    std::size_t end = quote + 1;
    while (end < text.size() && (text[end] != text[quote] || (text[end - 1] == '\\' && quote == at))) {
      ++end;
    }
    if (end > quote + 1 && text[end - 1] == '\\') {
      --end;
    }
    return {quote + 1, end};
  }
  const std::size_t end =
      to_the_end ? text.size() : std::min(text.find_first_of(" \t\r\n&;,}\"'", at), text.size());
  return {at, end};
}

/// `name=value`, `"name": "value"`, `Name: value` anywhere in the text. `is_argument`: the text is one
/// argument, and what it assigns first goes on to its end.
void HideAssigned(std::string& text, bool is_argument) {
  for (std::size_t at = text.find_first_of("=:"); at != std::string::npos;
       at = text.find_first_of("=:", at + 1)) {
    if (text.compare(at, 3, "://") == 0) {
      continue;
    }
    std::size_t name_end = at;
    while (name_end > 0 && (text[name_end - 1] == ' ' || text[name_end - 1] == '"' ||
                            text[name_end - 1] == '\'' || text[name_end - 1] == '\\')) {
      --name_end;
    }
    const std::size_t name_start = NameStart(text, name_end);
    const std::string name = text.substr(name_start, name_end - name_start);
    const bool whole = is_argument && text.find_first_of(" {&?\"") > at;
    const Span value = ValueAt(text, at + 1, whole);
    const std::string_view shown =
        std::string_view(text).substr(value.start, value.end - value.start);
    // In plain text "token: the" is a sentence; the value of an option is what it is.
    const bool is_sentence = !is_argument && text[at] == ':' &&
                             std::all_of(shown.begin(), shown.end(), IsLower);
    if (!name.empty() && !is_sentence && IsSecretBehind(name, shown)) {
      text.replace(value.start, value.end - value.start, kHidden);
      at = value.start + kHidden.size() - 1;
    }
  }
}

/// `--api-key VALUE` in a line of a log: a launcher that prints its command, a shell with -x.
void HideBehindOptions(std::string& text) {
  for (std::size_t at = text.find("--"); at != std::string::npos; at = text.find("--", at + 2)) {
    const bool word_begins = at == 0 || !(IsKeyByte(text[at - 1]));
    const std::size_t name_end = std::min(text.find_first_of(" \t\r\n=\"'", at), text.size());
    const std::size_t gap = name_end < text.size() ? name_end : std::string::npos;
    if (!word_begins || gap == std::string::npos || (text[gap] != ' ' && text[gap] != '\t')) {
      continue;
    }
    const std::string name = text.substr(at, name_end - at);
    const Span value = ValueAt(text, name_end, false);
    const std::string_view shown =
        std::string_view(text).substr(value.start, value.end - value.start);
    if (!shown.empty() && shown.front() != '-' && IsSecretBehind(name, shown)) {
      text.replace(value.start, value.end - value.start, kHidden);
    }
  }
}

/// Words of the text that have the shape of a key.
void HideShapes(std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    if (!IsKeyByte(text[at])) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && IsKeyByte(text[end])) {
      ++end;
    }
    // A path or an assignment is looked at part by part.
    std::size_t part = at;
    while (part < end) {
      const std::size_t part_end = std::min(text.find_first_of("/=", part), end);
      if (HasSecretShape(std::string_view(text).substr(part, part_end - part))) {
        text.replace(part, part_end - part, kHidden);
        end -= (part_end - part) - std::min(part_end - part, kHidden.size());
        end = std::min(end, text.size());
        part += kHidden.size();
      } else {
        part = part_end;
      }
      ++part;
    }
    at = std::max(end, at + 1);
  }
}

void HidePrivateKeys(std::string& text) {
  constexpr std::string_view kBegin = "-----BEGIN", kMark = "PRIVATE KEY-----", kEnd = "-----END";
  const std::size_t begin = text.find(kBegin);
  const std::size_t mark = begin == std::string::npos ? begin : text.find(kMark, begin);
  if (mark != std::string::npos) {
    const std::size_t from = mark + kMark.size();
    text.replace(from, std::min(text.find(kEnd, from), text.size()) - from, kHidden);
  }
}

void HideMarked(std::string& text, bool is_argument) {
  HidePrivateKeys(text);
  HideInAddresses(text);
  HideBehindSchemes(text);
  HideAssigned(text, is_argument);
  HideBehindOptions(text);
  HideShapes(text);
}

/// Short options of programs whose value is a password: `mysql -pX`, `sshpass -p X`, `curl -u me:X`.
bool TakesPassword(const std::vector<std::string>& arguments, std::string_view option) {
  struct Habit {
    std::string_view program, option;
  };
  constexpr std::array<Habit, 20> kHabits = {
      {{"mysql", "-p"},     {"mysqldump", "-p"}, {"mariadb", "-p"},   {"sshpass", "-p"},
       {"docker", "-p"},    {"podman", "-p"},    {"sqlcmd", "-P"},    {"redis-cli", "-a"},
       {"curl", "-u"},      {"wget", "-u"},      {"smbclient", "-U"}, {"7z", "-p"},
       {"zip", "-P"},       {"unzip", "-P"},     {"ldapsearch", "-w"}, {"mongo", "-p"},
       {"mongosh", "-p"},   {"mongodump", "-p"}, {"mysqladmin", "-p"}, {"isql", "-P"}}};
  // `docker run -p 80:80` is a port, `docker login -p X` is not.
  const bool ports = std::find(arguments.begin(), arguments.end(), "run") != arguments.end();
  return !ports && std::any_of(kHabits.begin(), kHabits.end(), [&](const Habit& habit) {
    return habit.option == option &&
           std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
             return std::string_view(argument).substr(argument.rfind('/') + 1) == habit.program;
           });
  });
}

/// What the argument after this one must be for it to be hidden.
enum class Next { kAnything, kSecret, kUnlessHarmless };

}  // namespace

bool NamesASecret(std::string_view name) {
  const std::vector<std::string> words = WordsOf(name);
  if (words.empty()) {
    return false;
  }
  const std::string& last = words.back();
  if (last == "token" || last == "accesstoken") {
    return !AnyOf(words, kTokenHarmless);
  }
  if (last == "tokens") {
    return words.size() > 1 && (words[words.size() - 2] == "access" ||
                                words[words.size() - 2] == "auth" || words[words.size() - 2] == "api");
  }
  if (last == "key" || last == "keys") {
    return words.size() > 1 && IsOneOf(words[words.size() - 2], kKeyOwners);
  }
  if (last == "pass" || last == "sig" || last == "pat" || last == "signature" || last == "cred") {
    // "--num-pass 2" counts, "--forward-pass" trains.
    constexpr std::array<std::string_view, 12> kOther = {
        "num", "n", "max", "forward", "backward", "first", "second", "low", "high", "band", "single",
        "method"};
    return !AnyOf(words, kOther);
  }
  return IsOneOf(last, kSecretWords);
}

std::string RedactText(std::string_view text) {
  std::string out(text);
  HideMarked(out, false);
  return out;
}

std::vector<std::string> RedactSecrets(std::vector<std::string> arguments) {
  constexpr std::size_t kRandomMin = 8;
  const std::vector<std::string> given = arguments;
  Next next = Next::kAnything;
  std::string_view name;
  for (std::size_t index = 0; index < arguments.size(); ++index) {
    std::string& argument = arguments[index];
    const bool is_option = argument.size() > 1 && argument.front() == '-';
    const Next expected = std::exchange(next, Next::kAnything);
    const bool hidden = (expected == Next::kSecret && !is_option && !IsHarmlessValue(argument)) ||
                        (expected == Next::kUnlessHarmless && !is_option &&
                         IsSecretBehind(name, argument));
    if (hidden) {
      argument = kHidden;
      continue;
    }
    if (is_option && argument.find_first_of("= ") == std::string::npos) {
      if (NamesASecret(argument) || TakesPassword(given, argument)) {
        next = Next::kSecret;
      } else if (argument.size() == 2 && index + 1 < given.size() && argument == "-p" &&
                 LooksRandom(given[index + 1], kRandomMin)) {
        next = Next::kSecret;
      } else {
        next = Next::kUnlessHarmless;
        name = given[index];
      }
      if (argument.size() > 2 && argument[1] != '-' && TakesPassword(given, argument.substr(0, 2))) {
        argument.replace(2, std::string::npos, kHidden);  // -pX in one word.
        next = Next::kAnything;
      }
    }
    HideMarked(argument, true);
  }
  return arguments;
}

}  // namespace whystop

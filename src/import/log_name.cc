#include "import/log_name.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <vector>

namespace whystop {
namespace {

constexpr std::array<std::string_view, 6> kErrorWords = {"err",    "error", "errors",
                                                         "stderr", "errs",  "errlog"};
constexpr std::array<std::string_view, 8> kOutputWords = {"out", "output", "outputs", "stdout",
                                                          "log", "logs",   "outlog",  "txt"};

template <std::size_t N>
bool Contains(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// "Train_Error.log" as "train", "error", "log".
std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char letter : name) {
    if (letter == '_' || letter == '-' || letter == '.') {
      words.emplace_back();
    } else {
      words.back().push_back(
          static_cast<char>(std::tolower(static_cast<unsigned char>(letter))));
    }
  }
  return words;
}

/// "o123" and "e123": a stream of job 123.
bool IsNumberedStream(std::string_view word) {
  return word.size() > 1 && (word[0] == 'o' || word[0] == 'e') &&
         word.find_first_not_of("0123456789", 1) == std::string_view::npos;
}

}  // namespace

LogName ReadLogName(std::string_view path) {
  const std::string name = std::filesystem::path(path).filename().string();
  std::vector<std::string> words = WordsOf(name);
  LogName out;
  for (std::size_t at = 0; at < words.size(); ++at) {
    std::string word = words[at];
    if (at + 1 == words.size() && at > 0 && IsNumberedStream(word)) {
      out.error_stream = out.error_stream || word[0] == 'e';
      word.erase(0, 1);
    } else if (Contains(kErrorWords, word)) {
      out.error_stream = true;
      continue;
    } else if (Contains(kOutputWords, word)) {
      continue;
    }
    out.job += (out.job.empty() ? "" : "_") + word;
  }
  return out;
}

}  // namespace whystop

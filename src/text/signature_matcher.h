#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/signature.h"

namespace re2 {
class RE2;
}

namespace whystop {

/// Finds all signatures of a table in one pass. From the text that each signature must contain four
/// rare words of 4 bytes are taken, so that one of them lies at a multiple of four wherever the
/// text stands: only every fourth position is looked at, in a bitmap that fits the first-level
/// cache. Only then the text is compared, and only then RE2 runs, on one line.
class SignatureMatcher {
 public:
  struct Match {
    const Signature* signature = nullptr;
    std::vector<std::string> captures;
  };

  explicit SignatureMatcher(std::span<const Signature> signatures);
  ~SignatureMatcher();
  SignatureMatcher(const SignatureMatcher&) = delete;
  SignatureMatcher& operator=(const SignatureMatcher&) = delete;

  /// Might a signature stand in `text`? False means surely not (whole-line signatures apart).
  /// `text` may hold many lines.
  bool MayMatch(std::string_view text) const;
  /// Where the required text of some signature stands, at or after `from`: a position inside it.
  /// npos: nowhere.
  std::size_t NextCandidate(std::string_view text, std::size_t from) const;
  /// All signatures found in one line, in order of the table. `line` has no logger prefix.
  std::vector<Match> MatchLine(std::string_view line) const;

  /// The matcher of the compiled-in table. Built once; safe to share between threads.
  static const SignatureMatcher& Shared();

 private:
  struct Entry;
  /// One word of a signature, and where in its required text it stands.
  struct Word {
    std::uint32_t word = 0;
    std::uint32_t first = 0;  // The first word of that text: tells nearly all mistakes.
    std::uint32_t index = 0;
    std::uint32_t offset = 0;
  };
  void AddWords(std::size_t index, std::string_view literal);
  void SortWords();
  /// All words equal to the one at `at`; empty for nearly every position.
  std::span<const Word> WordsAt(const char* at) const;
  bool IsCandidate(std::string_view text, std::size_t at) const;
  bool StandsAt(const Word& word, std::string_view text, std::size_t at) const;
  void Verify(std::size_t index, std::string_view line, std::vector<Match>& out) const;

  std::vector<std::unique_ptr<Entry>> entries_;
  std::vector<std::uint64_t> bitmap_;
  std::vector<Word> words_;            // Sorted by slot, then word.
  std::vector<std::uint32_t> starts_;  // First of words_ of each coarse slot.
  std::unordered_map<std::string_view, std::uint32_t> whole_lines_;
  std::size_t whole_line_bytes_max_ = 0;
  std::vector<std::uint32_t>
      unfiltered_;  // No usable word: tried on every line. Empty for our table (tested).
};

}  // namespace whystop

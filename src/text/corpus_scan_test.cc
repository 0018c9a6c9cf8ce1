#include <gtest/gtest.h>
#include <re2/set.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include "text/line_splitter.h"
#include "text/log_reader.h"
#include "text/signature_matcher.h"

namespace whystop {
namespace {

std::filesystem::path CorpusLogs() {
  return std::filesystem::path(WHYSTOP_SOURCE_DIR) / ".." / "shared" / "corpus" / "logs";
}

std::string Contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// Compares the filter with RE2's own set matcher, line by line.
class Compare : public LineSink {
 public:
  Compare() : set_(re2::RE2::Options(re2::RE2::Quiet), re2::RE2::UNANCHORED) {
    for (const Signature& row : AllSignatures()) {
      const std::string pattern(row.pattern);
      std::string error;
      const std::string regex = row.kind == Signature::Kind::kRegex ? pattern
                                : row.kind == Signature::Kind::kLiteral
                                    ? re2::RE2::QuoteMeta(pattern)
                                    : "^\\s*" + re2::RE2::QuoteMeta(pattern) + "\\s*$";
      EXPECT_EQ(set_.Add(regex, &error), static_cast<int>(rows_.size())) << error;
      rows_.push_back(&row);
    }
    EXPECT_TRUE(set_.Compile());
  }
  void OnLine(const LogLine& line) override {
    if (line.text.size() > 4096) {
      return;  // The set runs out of memory on such lines.
    }
    std::vector<int> found;
    set_.Match(re2::StringPiece(line.text.data(), line.text.size()), &found);
    std::set<std::string_view> plain;
    for (const int at : found) {
      plain.insert(rows_[static_cast<std::size_t>(at)]->pattern);
    }
    std::set<std::string_view> fast;
    for (const auto& match : SignatureMatcher::Shared().MatchLine(line.text)) {
      fast.insert(match.signature->pattern);
    }
    EXPECT_EQ(fast, plain) << line.text;
    matches += static_cast<std::int64_t>(fast.size());
  }
  void OnNulRun(std::int64_t, std::int64_t) override {}
  std::int64_t matches = 0;

 private:
  re2::RE2::Set set_;
  std::vector<const Signature*> rows_;
};

TEST(Corpus, FilterFindsExactlyWhatTheSetMatcherFinds) {
  if (!std::filesystem::exists(CorpusLogs())) {
    GTEST_SKIP() << "no corpus at " << CorpusLogs();
  }
  Compare compare;
  for (const auto& entry : std::filesystem::directory_iterator(CorpusLogs())) {
    LineSplitter splitter(compare);
    splitter.Feed(Contents(entry.path()).substr(0, 300'000));  // Enough of each to be quick.
    splitter.Finish();
  }
  EXPECT_GT(compare.matches, 50);
}

struct Count : EventSink {
  void Push(const Event& event) override {
    ++events;
    ends += event.As<TextEnd>() != nullptr ? 1 : 0;
  }
  std::int64_t events = 0;
  std::int64_t ends = 0;
};

/// Goal: wherever a log is cut, reading it is safe and ends in one TextEnd. Method: cut each at
/// many lengths.
TEST(Corpus, EveryCutIsReadToItsEnd) {
  if (!std::filesystem::exists(CorpusLogs())) {
    GTEST_SKIP() << "no corpus at " << CorpusLogs();
  }
  for (const auto& entry : std::filesystem::directory_iterator(CorpusLogs())) {
    const std::string text = Contents(entry.path()).substr(0, 40'000);
    for (std::size_t size = 0; size < text.size(); size += 1 + text.size() / 23) {
      Count count;
      LogReader reader("log", count, {.text_end = true});
      reader.Feed(std::string_view(text).substr(0, size), RunTime{});
      reader.Finish(RunTime{}, std::nullopt);
      EXPECT_EQ(count.ends, 1) << entry.path() << " cut at " << size;
    }
  }
}

}  // namespace
}  // namespace whystop

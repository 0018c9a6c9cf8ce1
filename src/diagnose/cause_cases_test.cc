#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "detect/case_script.h"
#include "diagnose/analysis.h"

namespace whystop {
namespace {

std::vector<std::string> CaseFiles() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(WHYSTOP_SOURCE_DIR "/src/cause")) {
    if (entry.path().extension() == ".case") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Shown(const Verdict& verdict) {
  std::string out(Name(verdict.learning));
  out += ": " + verdict.learning_text + "\n";
  for (const VerdictCause& cause : verdict.causes) {
    out += "  " + cause.id + " " + std::string(Name(cause.role)) + " " +
           std::string(Name(cause.confidence)) + "\n";
    for (const Evidence& evidence : cause.evidence) {
      out += "    " + evidence.text + "\n";
    }
    for (const std::string& fix : cause.fixes) {
      out += "    fix: " + fix + "\n";
      break;
    }
  }
  return out;
}

class CauseCase : public testing::TestWithParam<std::string> {};

/// Goal: a run that shows a cause is judged by that cause first, and its look-alike is not.
/// "expect ID": named with the role root (or the role given); "expect no-fault": nothing is blamed.
TEST_P(CauseCase, GivesTheVerdictItExpects) {
  std::ifstream file(GetParam());
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto script = ReadCaseScript(text);
  ASSERT_TRUE(script) << script.error().what;
  Analysis analysis;
  for (const Event& event : script->events) {
    analysis.Push(event);
  }
  const Verdict verdict = analysis.Judge(false);
  for (const CaseExpectation& expectation : script->expectations) {
    if (expectation.what == "no-fault") {
      EXPECT_TRUE(std::none_of(verdict.causes.begin(), verdict.causes.end(),
                               [](const VerdictCause& cause) { return cause.fault; }))
          << Shown(verdict);
      continue;
    }
    const auto role = expectation.details.find("role");
    const std::string wanted = role == expectation.details.end() ? "root" : role->second;
    EXPECT_TRUE(std::any_of(verdict.causes.begin(), verdict.causes.end(),
                            [&](const VerdictCause& cause) {
                              return cause.id == expectation.what && Name(cause.role) == wanted;
                            }))
        << expectation.what << " is not there as " << wanted << "; the verdict was\n"
        << Shown(verdict);
  }
}

/// Goal: what is found while a run goes on is what is found afterwards: the same events, the same
/// findings, the same verdict. Method: every case, judged after each few events as a live view
/// does, against the same case judged once.
TEST_P(CauseCase, FindsTheSameLiveAndAfterwards) {
  std::ifstream file(GetParam());
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto script = ReadCaseScript(text);
  ASSERT_TRUE(script) << script.error().what;
  constexpr std::size_t kBetween = 97;
  Analysis live;
  Analysis after;
  for (std::size_t i = 0; i < script->events.size(); ++i) {
    live.Push(script->events[i]);
    after.Push(script->events[i]);
    if (i % kBetween == 0) {
      static_cast<void>(live.Judge(true));
    }
  }
  const auto found_live = live.Findings();
  const auto found_after = after.Findings();
  ASSERT_EQ(found_live.size(), found_after.size());
  for (std::size_t i = 0; i < found_live.size(); ++i) {
    EXPECT_EQ(found_live[i].detector, found_after[i].detector);
    EXPECT_EQ(found_live[i].series, found_after[i].series);
    EXPECT_EQ(found_live[i].step_from, found_after[i].step_from);
    EXPECT_EQ(found_live[i].step_to, found_after[i].step_to);
    EXPECT_EQ(found_live[i].strength, found_after[i].strength);
    EXPECT_EQ(found_live[i].facts.size(), found_after[i].facts.size()) << found_live[i].detector;
  }
  EXPECT_EQ(Shown(live.Judge(false)), Shown(after.Judge(false)));
}

/// With two steps nothing can be said of learning, and the verdict says that.
TEST(TwoSteps, AreTooFewWhateverTheyDo) {
  for (const double second : {2.31, 2.3, 0.1, 40.0}) {
    Analysis analysis;
    analysis.Push({RunTime(1),
                   Scalar{"loss", SeriesRole::kTrainLoss, 2.3, 1, std::nullopt, std::nullopt, {}, {}, {}}});
    analysis.Push(
        {RunTime(2),
         Scalar{"loss", SeriesRole::kTrainLoss, second, 2, std::nullopt, std::nullopt, {}, {}, {}}});
    analysis.Push({RunTime(3), RunEnd{ChildEnd::Exited(0), std::nullopt}});
    const Verdict verdict = analysis.Judge(false);
    EXPECT_EQ(verdict.learning, Learning::kUnknown) << second;
    EXPECT_NE(verdict.learning_text.find("too few points"), std::string::npos)
        << verdict.learning_text;
    EXPECT_TRUE(std::none_of(verdict.causes.begin(), verdict.causes.end(),
                             [](const VerdictCause& cause) { return cause.fault; }))
        << Shown(verdict);
  }
}

std::string CaseName(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path(info.param);
  std::string name =
      path.parent_path().parent_path().filename().string() + "_" + path.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, CauseCase, testing::ValuesIn(CaseFiles()), CaseName);

}  // namespace
}  // namespace whystop

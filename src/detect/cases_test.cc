#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/parse.h"
#include "detect/case_script.h"
#include "detect/detector.h"

namespace whystop {
namespace {

class Collector final : public FindingSink {
 public:
  void Add(Finding finding) override { findings.push_back(std::move(finding)); }
  std::vector<Finding> findings;
};

/// Every detector over the whole script, as a verdict at its end would see it.
std::vector<Finding> RunDetectors(const std::vector<Event>& events) {
  Collector collector;
  for (const DetectorEntry& entry : AllDetectors()) {
    const auto detector = entry.make();
    for (const Event& event : events) {
      detector->Push(event, collector);
    }
    detector->Finish(collector);
  }
  return collector.findings;
}

bool Meets(const Finding& finding, const CaseExpectation& expectation) {
  if (finding.detector != expectation.what) {
    return false;
  }
  for (const auto& [key, text] : expectation.details) {
    if (key == "step") {
      const auto step = ParseWhole<std::int64_t>(text);
      if (!step || finding.step_from.value_or(-1) > *step ||
          finding.step_to.value_or(finding.step_from.value_or(-1)) < *step) {
        return false;
      }
      continue;
    }
    if (key == "series") {
      if (finding.series != text) {
        return false;
      }
      continue;
    }
    const Fact* fact = finding.FindFact(key);
    if (fact == nullptr ||
        (fact->text.empty() ? ParseWhole<double>(text) != fact->value : fact->text != text)) {
      return false;
    }
  }
  return true;
}

std::string Shown(const std::vector<Finding>& findings) {
  std::ostringstream out;
  for (const Finding& finding : findings) {
    out << "  " << finding.detector << " " << finding.series << " steps "
        << finding.step_from.value_or(-1) << ".." << finding.step_to.value_or(-1) << " strength "
        << finding.strength;
    for (const Fact& fact : finding.facts) {
      out << " " << fact.name << "="
          << (fact.text.empty() ? std::to_string(fact.value) : fact.text);
    }
    out << "\n";
  }
  return out.str();
}

std::vector<std::string> CaseFiles() {
  std::vector<std::string> files;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(WHYSTOP_SOURCE_DIR "/src/detect")) {
    if (entry.path().extension() == ".case") {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class DetectorCase : public testing::TestWithParam<std::string> {};

/// Goal: each rule fires where its cases say and nowhere else. "loss/trend" describes every run and
/// is no surprise.
TEST_P(DetectorCase, GivesWhatItExpects) {
  std::ifstream file(GetParam());
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto script = ReadCaseScript(text);
  ASSERT_TRUE(script) << script.error().what;
  ASSERT_FALSE(script->title.empty()) << "the first line says in prose what is going on";
  ASSERT_FALSE(script->expectations.empty());
  std::vector<Finding> findings = RunDetectors(script->events);
  for (const CaseExpectation& expectation : script->expectations) {
    if (expectation.what == "nothing" || expectation.what == "nothing-else") {
      std::erase_if(findings,
                    [](const Finding& finding) { return finding.detector == "loss/trend"; });
      EXPECT_TRUE(findings.empty()) << Shown(findings);
      continue;
    }
    const auto found = std::find_if(findings.begin(), findings.end(), [&](const Finding& finding) {
      return Meets(finding, expectation);
    });
    EXPECT_NE(found, findings.end()) << expectation.what << " missing; there was\n"
                                     << Shown(findings);
    std::erase_if(findings,
                  [&](const Finding& finding) { return finding.detector == expectation.what; });
  }
}

std::string CaseName(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path(info.param);
  std::string name =
      path.parent_path().parent_path().filename().string() + "_" + path.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, DetectorCase, testing::ValuesIn(CaseFiles()), CaseName);

TEST(Detectors, StandInOrderOfTheirIds) {
  const auto all = AllDetectors();
  EXPECT_TRUE(std::is_sorted(
      all.begin(), all.end(),
      [](const DetectorEntry& left, const DetectorEntry& right) { return left.id < right.id; }));
}

}  // namespace
}  // namespace whystop

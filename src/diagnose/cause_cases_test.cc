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
  for (const auto& entry : std::filesystem::recursive_directory_iterator(WHYSTOP_SOURCE_DIR "/src/cause")) {
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
    out += "  " + cause.id + " " + std::string(Name(cause.role)) + " " + std::string(Name(cause.confidence)) + "\n";
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
      EXPECT_TRUE(std::none_of(verdict.causes.begin(), verdict.causes.end(), [](const VerdictCause& cause) { return cause.fault; }))
          << Shown(verdict);
      continue;
    }
    const auto role = expectation.details.find("role");
    const std::string wanted = role == expectation.details.end() ? "root" : role->second;
    EXPECT_TRUE(std::any_of(verdict.causes.begin(), verdict.causes.end(), [&](const VerdictCause& cause) {
      return cause.id == expectation.what && Name(cause.role) == wanted;
    })) << expectation.what << " is not there as " << wanted << "; the verdict was\n" << Shown(verdict);
  }
}

std::string CaseName(const testing::TestParamInfo<std::string>& info) {
  const std::filesystem::path path(info.param);
  std::string name = path.parent_path().parent_path().filename().string() + "_" + path.stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, CauseCase, testing::ValuesIn(CaseFiles()), CaseName);

}  // namespace
}  // namespace whystop

#include "report/terminal_report.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(RenderTerminal, WrapsByCharactersNotByBytes) {
  Verdict verdict;
  for (int i = 0; i < 60; ++i) {
    verdict.learning_text += "█";
  }
  verdict.learning_text += " loss";
  const std::string page = RenderTerminal(verdict, {.colour = false, .width = 100, .unicode = true});
  EXPECT_NE(page.find(verdict.learning_text), std::string::npos) << page;
}

}  // namespace
}  // namespace whystop

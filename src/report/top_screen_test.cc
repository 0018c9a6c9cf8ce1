#include "report/top_screen.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(RenderTop, SaysWhereALineIsCut) {
  Verdict verdict;
  verdict.learning = Learning::kImproving;
  verdict.learning_text = std::string(200, 'x');
  const std::string bare = RenderTop({}, verdict, "", {.colour = false, .width = 80, .unicode = false});
  EXPECT_NE(bare.find("xxx...\n"), std::string::npos) << bare;
  const std::string shown = RenderTop({}, verdict, "short", {.colour = false, .width = 80, .unicode = true});
  EXPECT_NE(shown.find("x…\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("log       short\n"), std::string::npos) << shown;
}

}  // namespace
}  // namespace whystop

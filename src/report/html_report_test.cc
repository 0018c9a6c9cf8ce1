#include "report/html_report.h"

#include <gtest/gtest.h>

#include "report/sparkline.h"

namespace whystop {
namespace {

TEST(RenderHtml, NoTextOfARunCanEndTheDataBlock) {
  const std::string page = RenderHtml({R"({"a":"</script><script>alert(1)</script><!--"})"});
  EXPECT_EQ(page.find("</script><script>alert"), std::string::npos);
  EXPECT_NE(page.find(R"(\u003c/script>\u003cscript>alert(1))"), std::string::npos);
  EXPECT_NE(page.find("connect-src 'none'"), std::string::npos);
}

TEST(RenderHtml, TheLivePageMayAskItsOwnServerOnly) {
  const std::string page = RenderLivePage();
  EXPECT_NE(page.find("connect-src 'self'"), std::string::npos);
  EXPECT_EQ(page.find("connect-src 'none'"), std::string::npos);
}

TEST(Sparkline, DrawsFromLowToHighAndMarksWhatIsNotFinite) {
  EXPECT_EQ(Sparkline({0, 1, std::nullopt, 2}), "▁▅×█");
  EXPECT_EQ(Sparkline({5, 5, 5}), "▁▁▁");
  EXPECT_EQ(Sparkline({1, 2}), "");
  EXPECT_EQ(Sparkline({std::nullopt, std::nullopt, std::nullopt}), "");
}

}  // namespace
}  // namespace whystop

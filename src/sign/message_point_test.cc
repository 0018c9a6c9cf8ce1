#include "sign/message_point.h"

#include <gtest/gtest.h>

#include <string>

namespace whystop {
namespace {

TEST(PointOfMessage, ShortMessagesStayAsTheyAre) {
  EXPECT_EQ(PointOfMessage("bad shape"), "bad shape");
  EXPECT_EQ(PointOfMessage("it's 'a', 'b' or \"c\""), "it's 'a', 'b' or \"c\"");
  EXPECT_EQ(PointOfMessage(""), "");
}

TEST(PointOfMessage, ListsAreCutToTheirFirstNames) {
  EXPECT_EQ(PointOfMessage("Missing: \"a\", \"b\", \"c\", \"d\", \"e\". Load it anew"), "Missing: \"a\", \"b\", \"c\" and 2 more. Load it anew");
  EXPECT_EQ(PointOfMessage("got {'a': 1, 'b': 2, 'c': 3, 'd': 4}: too many"), "got {'a': 1, 'b': 2, 'c': 3 and 1 more}: too many");
  EXPECT_EQ(PointOfMessage("one of \"a\", \"b\", \"c\""), "one of \"a\", \"b\", \"c\"");
}

TEST(PointOfMessage, TheEndOfALongLineIsKept) {
  std::string text = "the first words";
  for (int i = 0; i < 100; ++i) {
    text += " word" + std::to_string(i);
  }
  const std::string point = PointOfMessage(text + " so remove word17");
  EXPECT_TRUE(point.starts_with("the first words word0"));
  EXPECT_TRUE(point.ends_with("so remove word17"));
  EXPECT_LT(point.size(), 330u);
}

TEST(PointOfMessage, FrameworksHideItBehindOtherLines) {
  EXPECT_EQ(PointOfMessage("Graph execution error:\n\nDetected at node 'x' defined at:\n  File \"t.py\", line 8\nNode: 'x'\n"
                           "Received a label value of 10\n\t [[{{node x}}]]"),
            "Received a label value of 10");
  EXPECT_EQ(PointOfMessage("Graph execution error:"), "Graph execution error");
}

}  // namespace
}  // namespace whystop

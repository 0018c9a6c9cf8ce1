#include "report/json_writer.h"

#include <gtest/gtest.h>

#include <limits>

namespace whystop {
namespace {

TEST(JsonWriter, WritesObjectsAndLists) {
  JsonWriter out;
  out.Open();
  out.Text("a", "x\"y\n");
  out.OpenList("b");
  out.Number("", std::int64_t{1});
  out.Number("", 0.5);
  out.CloseList();
  out.Flag("c", true);
  out.Null("d");
  out.Close();
  EXPECT_EQ(out.text(), R"({"a":"x\"y\u000a","b":[1,0.5],"c":true,"d":null})");
}

TEST(JsonWriter, IndentsWhenAsked) {
  JsonWriter out(2);
  out.Open();
  out.Number("a", std::int64_t{1});
  out.Open("b");
  out.Close();
  out.Close();
  EXPECT_EQ(out.text(), "{\n  \"a\": 1,\n  \"b\": {}\n}");
}

TEST(JsonWriter, ReplacesBytesThatAreNoUtf8) {
  JsonWriter out;
  out.OpenList();
  out.Text("", "caf\xc3\xa9 \xff \xed\xa0\x80");
  out.CloseList();
  EXPECT_EQ(out.text(), "[\"caf\xc3\xa9 \\ufffd \\ufffd\\ufffd\\ufffd\"]");
}

TEST(JsonWriter, WritesNumbersThatAreNotFiniteAsText) {
  JsonWriter out;
  out.OpenList();
  out.Number("", std::numeric_limits<double>::quiet_NaN());
  out.Number("", -std::numeric_limits<double>::infinity());
  out.CloseList();
  EXPECT_EQ(out.text(), R"(["NaN","-Infinity"])");
}

}  // namespace
}  // namespace whystop

#include "model/series_table.h"

#include <gtest/gtest.h>

#include <vector>

namespace whystop {
namespace {

struct Counted {
  int points = 0;
};
using Table = SeriesTable<Counted, 4>;

Scalar Point(std::string series, std::string file = "") {
  Scalar scalar;
  scalar.series = std::move(series);
  scalar.place.file = std::move(file);
  return scalar;
}

bool Count(Table& table, const Scalar& scalar) {
  Counted* found = table.Find(scalar, [] { return Counted{}; });
  if (found != nullptr) {
    ++found->points;
  }
  return found != nullptr;
}

std::vector<std::pair<std::string, int>> Told(const Table& table) {
  std::vector<std::pair<std::string, int>> told;
  for (const auto& [key, state] : table.states()) {
    told.emplace_back(key.name, state.points);
  }
  return told;
}

TEST(SeriesTable, FindsSeriesWhateverTheirOrder) {
  Table table;
  // As a step writes them; one that comes now and then; one left out; the order turned around.
  for (const char* name : {"c", "a", "c", "a", "b", "c", "a", "c", "c", "a", "b", "a", "c"}) {
    EXPECT_TRUE(Count(table, Point(name)));
  }
  EXPECT_EQ(Told(table), (std::vector<std::pair<std::string, int>>{{"a", 5}, {"b", 2}, {"c", 6}}));
}

TEST(SeriesTable, RankAndFileTellSeriesApart) {
  Table table;
  Scalar of_rank = Point("loss");
  of_rank.rank = 1;
  for (int i = 0; i < 3; ++i) {
    Count(table, Point("loss"));
    Count(table, of_rank);
    Count(table, Point("loss", "train.log"));
  }
  EXPECT_EQ(Told(table), (std::vector<std::pair<std::string, int>>{{"loss", 3}, {"loss", 3}, {"loss", 3}}));
}

TEST(SeriesTable, IsBoundedAndMayStartOver) {
  Table table;
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_TRUE(Count(table, Point(name)));
  }
  EXPECT_FALSE(Count(table, Point("e")));
  EXPECT_TRUE(Count(table, Point("a")));
  table.Clear();
  EXPECT_TRUE(Count(table, Point("e")));
  EXPECT_EQ(Told(table), (std::vector<std::pair<std::string, int>>{{"e", 1}}));
}

}  // namespace
}  // namespace whystop

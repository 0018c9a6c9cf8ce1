#include "model/observation_schema.h"

#include <gtest/gtest.h>

#include "model/observations.h"

namespace whystop {
namespace {

Observation Seen(std::string kind, std::map<std::string, Observation::Value> attributes) {
  Observation seen;
  seen.kind = std::move(kind);
  seen.attributes = std::move(attributes);
  return seen;
}

TEST(ObservationSchema, RefusesNamesAndTypesThatNobodyDeclared) {
  EXPECT_EQ(SchemaFault(Seen("loop-exit", {{"how", "break"}, {"line", 31.0}})), "");
  EXPECT_NE(SchemaFault(Seen("loop-exti", {})), "");
  EXPECT_NE(SchemaFault(Seen("loop-exit", {{"lien", 31.0}})), "");
  EXPECT_NE(SchemaFault(Seen("loop-exit", {{"line", "31"}})), "");
  EXPECT_NE(SchemaFault(Seen("loop-exit", {{"how", 1.0}})), "");
}

TEST(ObservationSchema, LetsKindsWithTheUsersOwnNamesHaveAny) {
  EXPECT_EQ(SchemaFault(Seen("run-config", {{"anything", "at all"}})), "");
}

TEST(ObservationSchema, TheTypedViewKeepsAbsentApartFromZero) {
  const auto exit = As<seen::LoopExit>(Seen("loop-exit", {{"turn", 0.0}, {"how", "end"}}));
  EXPECT_EQ(exit.turn, 0.0);
  EXPECT_EQ(exit.how, "end");
  EXPECT_FALSE(exit.planned);
  EXPECT_FALSE(exit.seen);
}

TEST(ObservationSchema, AWholeNumberIsNotMadeOfWhatIsNone) {
  EXPECT_FALSE(As<seen::LoopExit>(Seen("loop-exit", {{"line", 1e300}})).line);
}

}  // namespace
}  // namespace whystop

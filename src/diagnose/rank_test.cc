#include "diagnose/rank.h"

#include <gtest/gtest.h>

#include "cause/declaration.h"
#include "cause/evidence.h"

namespace whystop {
namespace {

Candidate Suspect(std::string_view id, Confidence confidence, std::size_t order = 0) {
  Candidate candidate;
  candidate.cause = FindCause(id);
  EXPECT_NE(candidate.cause, nullptr) << id;
  candidate.hypothesis.Add(Supports("test", "seen"));
  candidate.confidence = confidence;
  const Declaration* declared = FindDeclaration(id);
  candidate.generic = id == "uncaught-exception" || id == "external-sigkill" ||
                      (declared != nullptr && declared->symptom);
  candidate.order = order;
  return candidate;
}

std::string RolesOf(std::vector<Candidate> candidates) {
  std::string text;
  for (const VerdictCause& cause : RankCauses(std::move(candidates))) {
    text += (text.empty() ? "" : " ") + cause.id + ":" + std::string(Name(cause.role));
  }
  return text;
}

TEST(RankCauses, PutsTheRootBeforeItsConsequences) {
  EXPECT_EQ(RolesOf({Suspect("stop-on-nan", Confidence::kCertain),
                     Suspect("loss-nan", Confidence::kCertain),
                     Suspect("lr-too-high", Confidence::kCertain)}),
            "lr-too-high:root loss-nan:consequence stop-on-nan:consequence");
}

TEST(RankCauses, PrefersTheSpecificToTheGeneric) {
  EXPECT_EQ(RolesOf({Suspect("uncaught-exception", Confidence::kCertain, 1),
                     Suspect("cuda-oom", Confidence::kCertain, 2)}),
            "cuda-oom:root");
}

TEST(RankCauses, TakesTheEarliestOfEquals) {
  EXPECT_EQ(RolesOf({Suspect("nccl-error", Confidence::kCertain, 7),
                     Suspect("cuda-oom", Confidence::kCertain, 3)}),
            "cuda-oom:root");
}

TEST(RankCauses, APossibilityDoesNotTakeTheBlameForACertainty) {
  EXPECT_EQ(RolesOf({Suspect("loss-nan", Confidence::kCertain),
                     Suspect("exploding-gradient", Confidence::kPossible)}),
            "loss-nan:root");
}

TEST(RankCauses, WhatExplainsNeitherQuestionContributes) {
  EXPECT_EQ(RolesOf({Suspect("segfault", Confidence::kCertain),
                     Suspect("machine-suspended", Confidence::kCertain)}),
            "segfault:root machine-suspended:contributing");
}

TEST(RankCauses, ALeakIsTheRootOfTheKillItLedTo) {
  EXPECT_EQ(RolesOf({Suspect("cgroup-oom-kill", Confidence::kCertain),
                     Suspect("host-mem-leak", Confidence::kCertain)}),
            "host-mem-leak:root cgroup-oom-kill:consequence");
}

/// A symptom says what happened, not why: even a possibility explains it.
TEST(RankCauses, ASymptomIsNotTheRootWhereItsCauseIsThere) {
  EXPECT_EQ(RolesOf({Suspect("constant-prediction", Confidence::kCertain),
                     Suspect("lr-too-high", Confidence::kPossible)}),
            "lr-too-high:root constant-prediction:consequence");
}

TEST(RankCauses, RivalsThatNothingTellsApartAreBothPossible) {
  std::vector<Candidate> rivals;
  for (const char* id : {"labels-misaligned", "labels-random"}) {
    rivals.push_back(Suspect(id, Confidence::kLikely));
    rivals.back().log_odds = 2.2;
    rivals.back().exact = false;
    rivals.back().explains = {"loss-at-guessing"};
  }
  const auto causes = RankCauses(rivals);
  ASSERT_EQ(causes.size(), 2U);
  EXPECT_EQ(causes[0].role, CauseRole::kRoot);
  EXPECT_EQ(causes[0].confidence, Confidence::kPossible);
  EXPECT_EQ(causes[1].role, CauseRole::kContributing);
  EXPECT_EQ(causes[1].confidence, Confidence::kPossible);
}

/// The smallest set that explains: what the root explains needs no second cause.
TEST(RankCauses, WhatTheRootExplainsNeedsNoOther) {
  Candidate root = Suspect("unscaled-inputs", Confidence::kCertain);
  root.explains = {"inputs-unscaled", "gradients-zero"};
  Candidate other = Suspect("fp16-underflow", Confidence::kLikely);
  other.exact = false;
  other.explains = {"gradients-zero"};
  EXPECT_EQ(RolesOf({root, other}), "unscaled-inputs:root");
  other.explains = {"gradients-zero", "uses-half"};
  EXPECT_EQ(RolesOf({root, other}), "unscaled-inputs:root fp16-underflow:contributing");
}

TEST(RankCauses, NothingUnderSuspicionGivesNoCause) { EXPECT_EQ(RolesOf({}), ""); }

}  // namespace
}  // namespace whystop

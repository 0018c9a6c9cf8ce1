#include "diagnose/rank.h"

#include <gtest/gtest.h>

#include "cause/evidence.h"

namespace whystop {
namespace {

Candidate Suspect(std::string_view id, Confidence confidence, std::size_t order = 0) {
  Candidate candidate;
  candidate.cause = FindCause(id);
  EXPECT_NE(candidate.cause, nullptr) << id;
  candidate.hypothesis.Add(Supports("test", "seen"));
  candidate.confidence = confidence;
  candidate.generic = id == "uncaught-exception" || id == "external-sigkill" || id == "loss-nan";
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

TEST(RankCauses, NothingUnderSuspicionGivesNoCause) { EXPECT_EQ(RolesOf({}), ""); }

}  // namespace
}  // namespace whystop

#include "import/trainer_state/trainer_state_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "model/collect_events.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

CollectEvents ReadState(std::string_view text) {
  CollectEvents sink;
  SeriesLog log("trainer_state.json", sink);
  MemorySource source(text, 11);
  ReadTrainerState(source, log);
  log.Finish();
  return sink;
}

std::string State(const std::string& global_step, const std::string& last_row,
                  const std::string& callbacks) {
  return "{\"best_metric\": 0.5, \"best_model_checkpoint\": \"out/checkpoint-20\", \"epoch\": 1.5, "
         "\"global_step\": " +
         global_step +
         ", \"log_history\": ["
         "{\"epoch\": 0.5, \"grad_norm\": 2.0, \"learning_rate\": 1e-4, \"loss\": 3.0, \"step\": "
         "10},"
         "{\"epoch\": 1.0, \"eval_loss\": NaN, \"eval_runtime\": 3, \"step\": 20}" +
         last_row + "], \"max_steps\": 30, \"num_train_epochs\": 3, \"stateful_callbacks\": {" +
         callbacks + "}}";
}

TEST(TrainerState, ReadsHistoryPlanAndPosition) {
  const CollectEvents got = ReadState(State("20", "", ""));
  EXPECT_EQ(got.Values("loss"), std::vector<double>{3.0});
  EXPECT_EQ(got.Values("eval_loss").size(), 1u);
  ASSERT_EQ(got.All<Progress>().size(), 1u);
  EXPECT_EQ(got.All<Progress>()[0].step, 20);
  EXPECT_EQ(got.All<Progress>()[0].steps_planned, 30);
  EXPECT_EQ(got.All<Progress>()[0].epochs_planned, 3.0);
  ASSERT_EQ(got.Observed(kTrainerState).size(), 1u);
  EXPECT_EQ(got.Observed(kTrainerState)[0].Number("best_step"), 20.0);
  EXPECT_EQ(got.Observed(kTrainerState)[0].Number("checkpoint"), 1.0);
  EXPECT_EQ(got.All<TextEnd>().at(0).kind, TextEnd::Kind::kSilent);
}

TEST(TrainerState, AllStepsDoneIsCompleted) {
  const CollectEvents got = ReadState(State("30", "", ""));
  EXPECT_EQ(got.All<TextEnd>().at(0).kind, TextEnd::Kind::kCompleted);
  EXPECT_EQ(got.All<LogFact>().at(0).cause, "finished-epochs");
  EXPECT_EQ(got.Observed(kTrainerState)[0].Number("checkpoint"), 0.0);
}

TEST(TrainerState, TheClosingRowIsASummaryAndNoPoint) {
  const CollectEvents got =
      ReadState(State("30", ",{\"train_loss\": 9.0, \"train_runtime\": 5.0, \"step\": 30}", ""));
  EXPECT_TRUE(got.Values("train_loss").empty());
  ASSERT_EQ(got.Observed(kTrainerSummary).size(), 1u);
  EXPECT_EQ(got.Observed(kTrainerSummary)[0].Number("train_runtime"), 5.0);
}

TEST(TrainerState, KnowsThatPatienceRanOut) {
  const CollectEvents got =
      ReadState(State("20", "",
                      "\"EarlyStoppingCallback\": {\"args\": {\"early_stopping_patience\": 3, "
                      "\"early_stopping_threshold\": 0.0},"
                      "\"attributes\": {\"early_stopping_patience_counter\": 3}}"));
  EXPECT_EQ(got.All<LogFact>().at(0).cause, "early-stop-patience");
}

TEST(TrainerState, ACutFileInventsNothing) {
  const std::string whole = State("30", "", "");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const CollectEvents got = ReadState(std::string_view(whole).substr(0, size));
    EXPECT_LE(got.All<Scalar>().size(), 5u) << "cut at byte " << size;
    EXPECT_EQ(got.All<TextEnd>().at(0).kind, TextEnd::Kind::kMidLine) << "cut at byte " << size;
    EXPECT_EQ(got.Dropped("import.json_broken"), 0) << "cut at byte " << size;
  }
}

}  // namespace
}  // namespace whystop

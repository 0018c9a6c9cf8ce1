#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "import/open.h"
#include "model/collect_events.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

constexpr char kTable[] = "epoch,loss,val_loss\n0,1.5,1.6\n1,1.2,1.4\n";
constexpr char kLog[] = "Epoch 1/2, loss: 1.5\nEpoch 2/2, loss: 1.2\n";
constexpr char kState[] =
    "{\"epoch\": 1.0, \"global_step\": 10, \"log_history\": [{\"loss\": 1.0, \"step\": 10}], "
    "\"max_steps\": 10}";

class FindRunsTest : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    root_ = std::filesystem::path(testing::TempDir()) /
            ("whystop_find_runs_" + std::string(info->name()));
    std::filesystem::remove_all(root_);
    std::filesystem::create_directories(root_);
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& text, int age_minutes = 0) {
    const auto path = root_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    std::filesystem::last_write_time(
        path, std::filesystem::last_write_time(path) - std::chrono::minutes(age_minutes));
  }
  Found Find(FindLimits limits = {}) {
    auto found = FindRuns({root_.string()}, limits, [](std::size_t) {});
    EXPECT_TRUE(found);
    return found ? *found : Found{};
  }

  std::filesystem::path root_;
};

TEST_F(FindRunsTest, LogAndMetricsOfOneFolderAreOneRun) {
  Write("run/metrics.csv", kTable, 1);
  Write("run/train.out", kLog);
  Write("run/train.err", "warning: slow\n");
  Write("run/train.py", "import torch\n");
  Write("run/model.bin", std::string("\x01\x02\x03\x04\x05\x06\x07\x0e", 8));
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 1u);
  ASSERT_EQ(found.runs[0].files.size(), 3u);
  EXPECT_EQ(found.runs[0].files[0].kind, FileKind::kTable);
}

TEST_F(FindRunsTest, AFileThatGrewIsToldFromACopy) {
  Write("copied/train.log", kLog);
  Write("kept its time/train.log", kLog, 5);
  Write("grew/train.log", kLog, -1);
  std::map<std::string, bool> at_once;
  for (const FoundRun& run : Find().runs) {
    at_once[std::filesystem::path(run.files[0].path).parent_path().filename()] = run.files[0].at_once;
  }
  EXPECT_EQ(at_once, (std::map<std::string, bool>{{"copied", true}, {"grew", false}, {"kept its time", true}}));
}

TEST_F(FindRunsTest, TheLastJobOfEachStreamIsTheLastJob) {
  const std::string report = "Subject: Job 7: <train> in cluster <c> Exited\n\nExited with exit code 1.\n";
  const std::string syntax = "  File \"train.py\", line 3\n    x = = 1\n        ^\nSyntaxError: invalid syntax\n";
  Write("train.out", report + report);
  Write("train.err", syntax + syntax + syntax);
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 1u);
  struct Sink final : EventSink {
    void Push(const Event& event) override {
      const LogFact* fact = event.As<LogFact>();
      const Observation* seen = event.As<Observation>();
      exits += fact != nullptr && fact->line.find("Exited with exit code") != std::string::npos ? 1 : 0;
      wiped = wiped || (exits > 0 && seen != nullptr && seen->kind == "session-start" && seen->Text("file") != nullptr &&
                        seen->Text("file")->ends_with("train.err"));
    }
    int exits = 0;
    bool wiped = false;
  } sink;
  ASSERT_TRUE(ReadRun(found.runs[0], {}, sink));
  EXPECT_GT(sink.exits, 0);
  EXPECT_FALSE(sink.wiped);
}

TEST_F(FindRunsTest, AnEmptyFileBesideOthersTellsNothing) {
  Write("job.out", kLog, 5);
  Write("job.err", "");
  const auto both = FindRuns({(root_ / "job.out").string(), (root_ / "job.err").string()}, {},
                             [](std::size_t) {});
  ASSERT_TRUE(both);
  ASSERT_EQ(both->runs.size(), 1u);
  EXPECT_EQ(both->runs[0].files.size(), 1u);
  const auto alone = FindRuns({(root_ / "job.err").string()}, {}, [](std::size_t) {});
  EXPECT_TRUE(alone && alone->runs.size() == 1u);
}

TEST_F(FindRunsTest, ACompressedFileIsRefusedWithTheWayOut) {
  Write("train.log.gz", "\x1f\x8b\x08\x01\x02\x03\x04\x05\x06\x07");
  const auto found = FindRuns({(root_ / "train.log.gz").string()}, {}, [](std::size_t) {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("gzip"), std::string::npos);
  EXPECT_NE(found.error().hint.find("whystop why -"), std::string::npos);
}

TEST_F(FindRunsTest, LogsOfDifferentJobsAreDifferentRuns) {
  Write("slurm-1.out", kLog, 100);
  Write("slurm-2.out", kLog);
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 2u);
  EXPECT_TRUE(found.runs[1].name.ends_with("slurm-2.out"));  // Newest last.
}

TEST_F(FindRunsTest, BothStreamsOfOneJobAreOneRun) {
  for (const auto& [out, err] : {std::pair("train_output.log", "train_error.log"),
                                 {"train_log.log", "train_err.log"},
                                 {"fit.o42", "fit.e42"},
                                 {"stdout.log", "stderr.log"},
                                 {"job.out.txt", "job.err.txt"},
                                 {"out_3.txt", "err_3.txt"}}) {
    std::filesystem::remove_all(root_);
    Write(out, kLog);
    Write(err, "warning: slow\n", 3);  // Whichever was written last.
    const Found found = Find();
    ASSERT_EQ(found.runs.size(), 1u) << out;
    EXPECT_TRUE(found.runs[0].files.back().path.ends_with(err));
  }
}

TEST_F(FindRunsTest, AnExceptionOnStandardErrorIsTheEndWhateverStandardOutputSays) {
  Write("fit.out", std::string(kLog) + "Training finished\n");
  const std::string traceback =
      "Traceback (most recent call last):\n  File \"fit.py\", line 3, in <module>\n    "
      "plot()\nKeyError: 'loss'\n";
  for (const bool last : {true, false}) {
    Write("fit.err", traceback + (last ? "" : "\nplot skipped\nplot skipped\nplot skipped\nplot skipped\n"));
    const Found found = Find();
    ASSERT_EQ(found.runs.size(), 1u);
    CollectEvents sink;
    ASSERT_TRUE(ReadRun(found.runs[0], {}, sink));
    EXPECT_EQ(sink.All<TextEnd>().at(0).kind == TextEnd::Kind::kCompleted, !last);
  }
}

TEST_F(FindRunsTest, StreamsOfDifferentJobsAreDifferentRuns) {
  Write("fit.o42", kLog, 3);
  Write("fit.e43", "warning: slow\n");
  EXPECT_EQ(Find().runs.size(), 2u);
  Write("fit.e42", "warning: slow\n", 2);
  Write("fit.o43", kLog);
  EXPECT_EQ(Find().runs.size(), 2u);
  Write("train.log", kLog);
  Write("train_log.log", kLog);  // Both are outputs.
  EXPECT_EQ(Find().runs.size(), 4u);
}

TEST_F(FindRunsTest, FoldersAreRunsAndCheckpointsArePicturesOfOne) {
  Write("a/checkpoint-5/trainer_state.json",
        "{\"global_step\": 5, \"log_history\": [], \"max_steps\": 10}", 10);
  Write("a/checkpoint-10/trainer_state.json", kState, 5);
  Write("b/metrics.csv", kTable);
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 2u);
  ASSERT_EQ(found.runs[0].files.size(), 1u);
  EXPECT_NE(found.runs[0].files[0].path.find("checkpoint-10"), std::string::npos);
}

TEST_F(FindRunsTest, ALogAndTheMetricsOfAnotherFolderAreOneRunIfTheirTimesFit) {
  Write("slurm-1.out", kLog, 1);
  Write("lightning_logs/version_0/metrics.csv", kTable, 3);
  EXPECT_EQ(Find().runs.size(), 1u);
  Write("lightning_logs/version_0/metrics.csv", kTable, 300);
  EXPECT_EQ(Find().runs.size(), 2u);
}

TEST_F(FindRunsTest, DatasetsAndSettingsAreNotRuns) {
  Write("data/train.csv", "pixel0,pixel1,label\n0,255,7\n1,254,3\n");
  Write("data/train.jsonl", "{\"text\": \"a\", \"label\": 1}\n{\"text\": \"b\", \"label\": 0}\n");
  Write("model/config.json", "{\"hidden_size\": 768, \"layers\": [1, 2, 3]}");
  EXPECT_TRUE(Find().runs.empty());
  const auto named = FindRuns({(root_ / "data/train.csv").string()}, {}, [](std::size_t) {});
  ASSERT_TRUE(named);
  EXPECT_EQ(named->runs.size(), 1u);  // Who names a file means it.
}

TEST_F(FindRunsTest, TheDiariesOfATrackerAreNotTheRunsLog) {
  Write("wandb/run-1/run-1.wandb", std::string(":W&B\xe1\xbe\0", 7));
  Write("wandb/run-1/files/output.log", kLog);
  Write("wandb/run-1/logs/debug-internal.log", "INFO started\n");
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 1u);
  EXPECT_EQ(found.runs[0].files.size(), 2u);
}

TEST_F(FindRunsTest, ATrackersFolderWithoutItsRunFileIsOneRun) {
  Write("wandb/run-1/files/output.log", kLog);
  Write("wandb/run-1/logs/debug.log", "INFO started\n");
  Write("wandb/run-1/logs/debug-internal.log", "INFO started\n");
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 1u);
  EXPECT_EQ(found.runs[0].files.size(), 1u);
}

TEST_F(FindRunsTest, AWholeTrackersFolderIsOneRunEach) {
  const std::string diary = "2026-01-02 10:00:01,102 ERROR MainThread:7 [retry.py:__call__():172] Retry failed\n[wandb_run.py:1]\n";
  for (const std::string run : {"wandb/run-1", "wandb/run-2"}) {
    Write(run + "/files/output.log", kLog);
    Write(run + "/files/requirements.txt", "torch==2.2\n");
    Write(run + "/files/wandb-summary.json", "{\"loss\": 0.2, \"_step\": 900}\n");
    Write(run + "/logs/debug.log", diary);
  }
  Write("wandb/debug.log", diary);
  Write("wandb/debug-internal.log", diary);
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 2u);
  EXPECT_TRUE(found.runs[0].name.ends_with("wandb/run-1"));
  EXPECT_EQ(found.runs[0].files.size(), 1u);
  const auto named = FindRuns({(root_ / "wandb/debug.log").string()}, {}, [](std::size_t) {});
  ASSERT_TRUE(named);
  EXPECT_TRUE(named->runs.empty());
  EXPECT_EQ(named->ignored.size(), 1u);
}

TEST_F(FindRunsTest, StopsAtItsLimitsAndSaysSo) {
  Write("d1/d2/d3/metrics.csv", kTable);
  EXPECT_EQ(Find().runs.size(), 1u);
  const Found shallow = Find({.depth_max = 1, .files_max = 100});
  EXPECT_TRUE(shallow.runs.empty());
  EXPECT_TRUE(shallow.limits_met);
}

TEST_F(FindRunsTest, ANamedPathThatIsNotThereIsAnError) {
  const auto found = FindRuns({(root_ / "gone.log").string()}, {}, [](std::size_t) {});
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().what.find("gone.log"), std::string::npos);
}

TEST_F(FindRunsTest, ARunHasOneEndAndEachSeriesOnce) {
  Write("run/metrics.csv", kTable, 3);
  Write("run/history.json", "{\"loss\": [9, 9], \"acc\": [0.1, 0.2]}", 2);
  Write("run/trainer_state.json", kState, 1);
  const Found found = Find();
  ASSERT_EQ(found.runs.size(), 1u);
  CollectEvents sink;
  ASSERT_TRUE(ReadRun(found.runs[0], {}, sink));
  ASSERT_EQ(sink.All<TextEnd>().size(), 1u);
  EXPECT_EQ(sink.All<TextEnd>()[0].kind, TextEnd::Kind::kCompleted);
  EXPECT_EQ(sink.Values("loss"), (std::vector<double>{1.5, 1.2}));
  EXPECT_EQ(sink.Values("acc").size(), 2u);
}

}  // namespace
}  // namespace whystop

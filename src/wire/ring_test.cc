#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "wire/observation_encoder.h"
#include "wire/ring_reader.h"
#include "wire/ring_writer.h"
#include "wire/slot_decoder.h"
#include "wire/wire_testing.h"

namespace whystop {
namespace {

StepBody StepOf(std::int64_t step, double loss) {
  return {.step = step,
          .loss = loss,
          .lr = 0.1,
          .wait_s = 0,
          .duration_s = 0,
          .flags = 0,
          .present = StepBody::kLoss | StepBody::kLr};
}

class RingTest : public testing::Test {
 protected:
  bool OpenWriter(std::uint32_t slots = kSlotCountMin, int rank = -1) {
    RingWriterOptions options;
    options.directory = folder_.path().c_str();
    options.slot_count = slots;
    options.rank = rank;
    options.writer_name = "test";
    return writer_->Open(options);
  }
  RingReader OpenReader() {
    auto reader = RingReader::Open(folder_.OnlyFile());
    EXPECT_TRUE(reader) << (reader ? "" : reader.error().what);
    return std::move(*reader);
  }

  TemporaryFolder folder_;
  std::unique_ptr<RingWriter> writer_ = std::make_unique<RingWriter>();
};

TEST_F(RingTest, DeliversEveryKindOfRecordAsItsEvent) {
  ASSERT_TRUE(OpenWriter(256, 3));
  writer_->Progress(
      {1, 10, 0, 500, ProgressBody::kEpoch | ProgressBody::kEpochs | ProgressBody::kSteps, 0});
  writer_->Phase("train");
  writer_->Step(StepOf(7, std::nan("")), false);
  writer_->Scalar("val_accuracy",
                  {.name = 0, .step = 7, .value = 0.5, .role = 7, .present = 1, .zero = {}});
  StatsBody stats{};
  stats.step = 7;
  stats.what = 1;
  stats.count = 10;
  stats.below[5] = 9;
  writer_->Stats("encoder.0.weight", stats);
  ObservationRoom room;
  ObservationEncoder seen("loop-exit", room.bytes);
  seen.SetStep(7);
  seen.Add("line", 31);
  seen.Add("file", "train.py");
  writer_->Observation(seen.body());

  auto reader = OpenReader();
  const CollectEvents events = DecodeAll(reader);
  EXPECT_EQ(events.Only<Observation>("phase").attributes.at("phase"), Observation::Value("train"));
  const Observation exit = events.Only<Observation>("loop-exit");
  EXPECT_EQ(exit.step, 7);
  EXPECT_EQ(exit.rank, 3);
  EXPECT_EQ(exit.Number("line"), 31.0);
  EXPECT_EQ(*exit.Text("file"), "train.py");
  const auto scalars = events.All<Scalar>();
  ASSERT_EQ(scalars.size(), 3u);
  EXPECT_EQ(scalars[0].series, "loss");
  EXPECT_TRUE(std::isnan(scalars[0].value));
  EXPECT_EQ(scalars[1].series, "lr");
  EXPECT_EQ(scalars[2].series, "val_accuracy");
  EXPECT_EQ(scalars[2].role, SeriesRole::kValidationScore);
  EXPECT_EQ(scalars[2].step, 7);
  EXPECT_EQ(scalars[2].rank, 3);
  const auto all_stats = events.All<TensorStats>();
  ASSERT_EQ(all_stats.size(), 1u);
  EXPECT_EQ(all_stats[0].tensor, "encoder.0.weight");
  EXPECT_EQ(all_stats[0].what, TensorStats::What::kGradient);
  EXPECT_EQ(all_stats[0].below[5], 9u);
  const auto progress = events.All<Progress>();
  ASSERT_EQ(progress.size(), 2u);
  EXPECT_EQ(progress[0].epochs_planned, 10.0);
  EXPECT_EQ(progress[0].step, std::nullopt);
  EXPECT_EQ(progress[1].step, 7);
  EXPECT_TRUE(events.All<Drop>().empty());
}

TEST_F(RingTest, CountsWhatWasOverwrittenUnread) {
  ASSERT_TRUE(OpenWriter());
  for (int step = 1; step <= 1000; ++step) {
    writer_->Step(StepOf(step, step), false);
  }
  auto reader = OpenReader();
  const CollectEvents events = DecodeAll(reader);
  ASSERT_EQ(events.All<Drop>().size(), 1u);
  EXPECT_EQ(events.All<Drop>()[0].counter, "wire.slots_overwritten");
  EXPECT_EQ(events.All<Drop>()[0].count, 1000 - 64);
  EXPECT_EQ(events.All<Progress>().size(), 64u);
  EXPECT_EQ(events.All<Progress>().back().step, 1000);
}

TEST_F(RingTest, TheNewestStepOutlivesAFloodOfOtherRecords) {
  ASSERT_TRUE(OpenWriter());
  writer_->Step(StepOf(41, 1), false);
  writer_->Step(StepOf(42, 0.5), false);
  for (int i = 0; i < 1000; ++i) {
    writer_->Phase("eval");
  }
  auto reader = OpenReader();
  const auto progress = DecodeAll(reader).All<Progress>();
  ASSERT_EQ(progress.size(), 1u);
  EXPECT_EQ(progress[0].step, 42);
  EXPECT_TRUE(DecodeAll(reader).All<Progress>().empty()) << "delivered twice";
}

TEST_F(RingTest, StepsKeptInTheHeaderAloneAreDeliveredOnce) {
  ASSERT_TRUE(OpenWriter());
  auto reader = OpenReader();
  for (int step = 1; step <= 10; ++step) {
    writer_->Step(StepOf(step, step), true);
  }
  EXPECT_EQ(DecodeAll(reader).All<Progress>().at(0).step, 10);
  EXPECT_TRUE(DecodeAll(reader).All<Progress>().empty());
  writer_->Step(StepOf(11, 1), false);
  EXPECT_EQ(DecodeAll(reader).All<Progress>().size(), 1u);
}

TEST_F(RingTest, NamesAreRepeatedSoThatALateReaderKnowsThem) {
  ASSERT_TRUE(OpenWriter());
  for (int step = 0; step < 1000; ++step) {
    writer_->Scalar("grad_norm",
                    {.name = 0, .step = step, .value = 1, .role = 4, .present = 1, .zero = {}});
  }
  auto reader = OpenReader();
  const auto scalars = DecodeAll(reader).All<Scalar>();
  ASSERT_FALSE(scalars.empty());
  EXPECT_EQ(scalars.back().series, "grad_norm");
}

TEST_F(RingTest, AChildAfterForkIsSilentAndMayOpenItsOwn) {
  ASSERT_TRUE(OpenWriter());
  writer_->Step(StepOf(1, 1), false);
  const pid_t child = fork();
  if (child == 0) {
    writer_->Step(StepOf(666, 1), false);
    RingWriter own;
    RingWriterOptions options;
    options.directory = folder_.path().c_str();
    const bool opened = !writer_->alive() && own.Open(options);
    own.Step(StepOf(2, 1), false);
    _exit(opened ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder_.Files().size(), 2u);
  writer_->Step(StepOf(3, 1), false);
  for (const std::string& path : folder_.Files()) {
    auto reader = RingReader::Open(path);
    ASSERT_TRUE(reader);
    const bool is_childs = reader->header().pid == child;
    const auto progress = DecodeAll(*reader).All<Progress>();
    ASSERT_EQ(progress.size(), is_childs ? 1u : 2u);
    EXPECT_EQ(progress.back().step, is_childs ? 2 : 3);
  }
}

TEST_F(RingTest, ASecondWriterOfTheProcessTakesAnotherName) {
  ASSERT_TRUE(OpenWriter());
  RingWriter second;
  RingWriterOptions options;
  options.directory = folder_.path().c_str();
  EXPECT_TRUE(second.Open(options));
  EXPECT_EQ(folder_.Files().size(), 2u);
}

/// Under torch.multiprocessing.spawn no environment tells the rank.
TEST_F(RingTest, ARankThatIsKnownLaterHoldsForWhatFollows) {
  ASSERT_TRUE(OpenWriter());
  auto reader = OpenReader();
  writer_->Step(StepOf(1, 1), false);
  EXPECT_EQ(DecodeAll(reader).All<Progress>().front().rank, std::nullopt);
  writer_->SetRank(1, 2);
  writer_->Step(StepOf(2, 1), false);
  EXPECT_EQ(DecodeAll(reader).All<Progress>().front().rank, 1);
}

TEST_F(RingTest, CloseIsOnRecordAndALaterCallDoesNothing) {
  ASSERT_TRUE(OpenWriter());
  writer_->SetFlags(kRingProbe);
  writer_->Close();
  writer_->Step(StepOf(1, 1), false);
  auto reader = OpenReader();
  EXPECT_TRUE(DecodeAll(reader).All<Progress>().empty());
  EXPECT_TRUE(reader.closed());
  EXPECT_TRUE((reader.header().flags & kRingProbe) != 0);
}

TEST_F(RingTest, WithoutADirectoryThereIsNoRing) {
  RingWriterOptions options;
  EXPECT_FALSE(writer_->Open(options));
  options.directory = "/nonexistent/place";
  EXPECT_FALSE(writer_->Open(options));
  writer_->Step(StepOf(1, 1), false);
  writer_->Close();
}

TEST_F(RingTest, AFlippedBitCostsOneRecordAndIsCounted) {
  ASSERT_TRUE(OpenWriter());
  for (int step = 1; step <= 3; ++step) {
    writer_->Step(StepOf(step, step), false);
  }
  const std::string path = folder_.OnlyFile();
  for (std::size_t byte = 0; byte < kSlotBytes; ++byte) {
    const std::size_t place = kRingHeaderBytes + kSlotBytes + byte;
    FlipByte(path, place);
    auto reader = OpenReader();
    const CollectEvents events = DecodeAll(reader);
    ASSERT_EQ(events.All<Progress>().size(), 2u) << "byte " << byte;
    EXPECT_EQ(events.All<Progress>()[0].step, 1) << "byte " << byte;
    EXPECT_EQ(events.All<Progress>()[1].step, 3) << "byte " << byte;
    ASSERT_EQ(events.All<Drop>().size(), 1u) << "byte " << byte;
    EXPECT_EQ(events.All<Drop>()[0].counter, "wire.slots_damaged");
    FlipByte(path, place);
  }
}

TEST_F(RingTest, AFileCutAtAnyLengthIsReadWithoutHarm) {
  ASSERT_TRUE(OpenWriter());
  for (int step = 1; step <= 20; ++step) {
    writer_->Step(StepOf(step, step), false);
  }
  writer_->Close();
  const std::string path = folder_.OnlyFile();
  auto reader = OpenReader();
  std::filesystem::resize_file(path, kRingHeaderBytes + 5 * kSlotBytes + 17);
  const CollectEvents events = DecodeAll(reader);
  EXPECT_EQ(events.All<Progress>().at(4).step, 5);
  EXPECT_EQ(events.All<Drop>().at(0).count, 15);
  for (std::size_t size : {4095UL, 200UL, 100UL, 7UL, 0UL}) {
    std::filesystem::resize_file(path, size);
    EXPECT_FALSE(RingReader::Open(path)) << size;
    DecodeAll(reader);
  }
}

TEST_F(RingTest, AnAbsurdHeadIsNotBelieved) {
  ASSERT_TRUE(OpenWriter());
  writer_->Step(StepOf(1, 1), false);
  std::fstream file(folder_.OnlyFile(), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(kHeadOffset);
  file.write("\xff\xff\xff\xff\xff\xff\xff\xff", 8);
  file.close();
  auto reader = OpenReader();
  EXPECT_EQ(DecodeAll(reader).All<Progress>().at(0).step, 1);
}

TEST_F(RingTest, AFileThatIsNoRingIsRefused) {
  const std::string path = folder_.path() + "/1-1.ring";
  std::ofstream(path) << std::string(20000, 'x');
  auto reader = RingReader::Open(path);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Error::Code::kCorrupt);
  std::ofstream(path) << std::string(20000, '\0');
  reader = RingReader::Open(path);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Error::Code::kBusy);
}

}  // namespace
}  // namespace whystop

#include "import/tensorboard/event_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <protozero/pbf_writer.hpp>
#include <string>

#include "model/collect_events.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

std::string EventWith(std::int64_t step, double wall_seconds, const std::string& value) {
  std::string summary;
  protozero::pbf_writer(summary).add_message(1, value);
  std::string event;
  protozero::pbf_writer writer(event);
  writer.add_double(1, wall_seconds);
  writer.add_int64(2, step);
  writer.add_message(5, summary);
  return event;
}

std::string SimpleValue(const std::string& tag, float number) {
  std::string value;
  protozero::pbf_writer writer(value);
  writer.add_string(1, tag);
  writer.add_float(2, number);
  return value;
}

std::string TensorOf(const std::string& tag, std::int32_t dtype, const std::string& content) {
  std::string tensor;
  protozero::pbf_writer tensor_writer(tensor);
  tensor_writer.add_enum(1, dtype);
  tensor_writer.add_bytes(4, content);
  std::string value;
  protozero::pbf_writer writer(value);
  writer.add_string(1, tag);
  writer.add_message(8, tensor);
  return value;
}

std::string Bytes(float number) {
  std::string bytes(sizeof(number), '\0');
  std::memcpy(bytes.data(), &number, sizeof(number));
  return bytes;
}

std::string FileOf(const std::vector<std::string>& events) {
  std::string version;
  protozero::pbf_writer(version).add_string(3, "brain.Event:2");
  std::string file;
  AppendTfRecord(file, version);
  for (const std::string& event : events) {
    AppendTfRecord(file, event);
  }
  return file;
}

CollectEvents ReadEvents(std::string_view file, const std::string& prefix = "",
                         std::size_t piece_bytes = 1 << 16) {
  CollectEvents sink;
  SeriesLog log("events", sink);
  MemorySource source(file, piece_bytes);
  EventReader(log, prefix).Read(source);
  log.Finish();
  return sink;
}

TEST(EventReader, ReadsScalarsOfBothKinds) {
  const std::string file = FileOf({EventWith(1, 100.0, SimpleValue("train/loss", 2.5F)),
                                   EventWith(2, 101.5, TensorOf("lr", 1, Bytes(0.25F))),
                                   EventWith(3, 102.0, SimpleValue("train/loss", NAN))});
  const CollectEvents got = ReadEvents(file);
  ASSERT_EQ(got.Values("train/loss").size(), 2u);
  EXPECT_EQ(got.Values("train/loss")[0], 2.5);
  EXPECT_TRUE(std::isnan(got.Values("train/loss")[1]));
  EXPECT_EQ(got.Values("lr"), std::vector<double>{0.25});
  EXPECT_EQ(got.events[1].at, std::chrono::milliseconds(1500));
  EXPECT_EQ(got.All<Scalar>()[1].step, 2);
  EXPECT_EQ(got.All<Progress>().at(0).step, 3);
}

TEST(EventReader, ReadsTensorsInEveryStorage) {
  std::string float_val;
  protozero::pbf_writer packed(float_val);
  packed.add_enum(1, 1);
  const std::vector<float> one = {1.5F};
  packed.add_packed_float(5, one.begin(), one.end());
  std::string value;
  protozero::pbf_writer writer(value);
  writer.add_string(1, "loss");
  writer.add_message(8, float_val);
  const std::string bfloat16("\xc0\x3f", 2);  // 1.5 as the upper half of a float.
  const std::string half("\x00\x3e", 2);
  const CollectEvents got =
      ReadEvents(FileOf({EventWith(1, 1, value), EventWith(2, 2, TensorOf("loss", 14, bfloat16)),
                         EventWith(3, 3, TensorOf("loss", 19, half)),
                         EventWith(4, 4, TensorOf("loss", 1, Bytes(1) + Bytes(2)))}));
  EXPECT_EQ(got.Values("loss"),
            (std::vector<double>{1.5, 1.5, 1.5}));  // Two elements are no scalar.
}

TEST(EventReader, TheFolderSaysWhichSplitItIs) {
  const CollectEvents got =
      ReadEvents(FileOf({EventWith(1, 1, SimpleValue("epoch_loss", 1))}), "validation/");
  EXPECT_EQ(got.All<Scalar>().at(0).series, "validation/epoch_loss");
  EXPECT_EQ(got.All<Scalar>().at(0).role, SeriesRole::kValidationLoss);
}

TEST(EventReader, SaysSoWhenNoScalarWasEverWritten) {
  EXPECT_EQ(ReadEvents(FileOf({})).Observed(kMetricsEmpty).size(), 1u);
}

TEST(EventReader, AStepThatGoesBackIsARestart) {
  const CollectEvents got = ReadEvents(FileOf(
      {EventWith(0, 1, SimpleValue("loss", 3)), EventWith(100, 2, SimpleValue("loss", 2)),
       EventWith(1, 3, SimpleValue("epoch_loss", 2)), EventWith(0, 4, SimpleValue("loss", 3))}));
  EXPECT_EQ(got.Observed(kSessionStart).size(), 1u);
}

TEST(EventReader, ADamagedRecordCostsOnlyItself) {
  std::string file =
      FileOf({EventWith(1, 1, SimpleValue("loss", 3)), EventWith(2, 2, SimpleValue("loss", 2)),
              EventWith(3, 3, SimpleValue("loss", 1))});
  file[file.size() / 2] = static_cast<char>(file[file.size() / 2] ^ 1);
  const CollectEvents got = ReadEvents(file);
  EXPECT_EQ(got.Values("loss").size(), 2u);
  EXPECT_EQ(got.All<Drop>().size(), 1u);
}

TEST(EventReader, ACutFileGivesNoMoreThanTheWholeOneAndIsNoDamage) {
  const std::string file =
      FileOf({EventWith(1, 1, SimpleValue("loss", 3)), EventWith(2, 2, SimpleValue("loss", 2))});
  for (std::size_t size = 0; size <= file.size(); ++size) {
    const CollectEvents got = ReadEvents(std::string_view(file).substr(0, size), "", 9);
    EXPECT_LE(got.Values("loss").size(), 2u) << "cut at byte " << size;
    EXPECT_TRUE(got.All<Drop>().empty()) << "cut at byte " << size;
  }
}

TEST(LooksLikeEventFile, WantsASoundHeader) {
  const std::string file = FileOf({});
  EXPECT_TRUE(LooksLikeEventFile(file));
  EXPECT_FALSE(LooksLikeEventFile(file.substr(1)));
  EXPECT_FALSE(LooksLikeEventFile("epoch,loss\n0,1\n"));
}

}  // namespace
}  // namespace whystop

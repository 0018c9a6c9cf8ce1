#include "import/wandb/wandb_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <protozero/pbf_writer.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32.h"
#include "base/little_endian.h"
#include "model/collect_events.h"
#include "model/observation_kind.h"

namespace whystop {
namespace {

constexpr std::size_t kBlockBytes = 32768;

class KeepText final : public ConsoleText {
 public:
  void Feed(std::string_view bytes, RunTime) override { text.append(bytes); }
  void Finish(RunTime, bool) override {}
  std::string text;
};

/// Writes the framing of a .wandb file, records cut at block ends.
class WandbFile {
 public:
  WandbFile() : bytes_(":W&B\xe1\xbe", 6) { bytes_.push_back('\0'); }

  void Add(std::string_view record) {
    bool first = true;
    do {
      std::size_t room = kBlockBytes - bytes_.size() % kBlockBytes;
      if (room < 7) {
        bytes_.append(room, '\0');
        room = kBlockBytes;
      }
      const std::string_view part = record.substr(0, room - 7);
      record.remove_prefix(part.size());
      const bool last = record.empty();
      const int type = first && last ? 1 : first ? 2 : last ? 4 : 3;
      std::string checked(1, static_cast<char>(type));
      checked.append(part);
      AppendLittle<std::uint32_t>(bytes_, Crc32(checked));
      AppendLittle<std::uint16_t>(bytes_, static_cast<std::uint16_t>(part.size()));
      bytes_.append(checked);
      first = false;
    } while (!record.empty());
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

std::string Message(protozero::pbf_tag_type field, const std::string& body) {
  std::string record;
  protozero::pbf_writer(record).add_message(field, body);
  return record;
}

std::string Items(const std::vector<std::pair<std::string, std::string>>& items, bool nested) {
  std::string body;
  for (const auto& [key, json] : items) {
    std::string item;
    protozero::pbf_writer writer(item);
    writer.add_string(nested ? 2 : 1, key);
    writer.add_string(16, json);
    protozero::pbf_writer(body).add_message(1, item);
  }
  return body;
}

std::string Output(const std::string& text) {
  std::string body;
  protozero::pbf_writer(body).add_string(3, text);
  return Message(13, body);
}

std::string Exit(std::int32_t code) {
  std::string body;
  protozero::pbf_writer(body).add_int32(1, code);
  return Message(18, body);
}

CollectEvents ReadWandb(std::string_view file, std::string* console = nullptr) {
  CollectEvents sink;
  SeriesLog log("run.wandb", sink);
  MemorySource source(file, 1000);
  KeepText text;
  WandbReader(log, text).Read(source);
  log.Finish();
  if (console != nullptr) {
    *console = text.text;
  }
  return sink;
}

WandbFile SmallRun() {
  WandbFile file;
  file.Add(Message(17, std::string()));
  file.Add(
      Message(5, Items({{"epochs", "3"}, {"optimizer", "\"adam\""}, {"_wandb", "{}"}}, false)));
  file.Add(Message(
      2, Items({{"train/loss", "2.5"}, {"_step", "0"}, {"train/global_step", "10"}}, false)));
  file.Add(Message(
      2, Items({{"train/loss", "\"NaN\""}, {"_step", "1"}, {"train/global_step", "20"}}, true)));
  file.Add(Output("step 20\r"));
  return file;
}

TEST(WandbReader, ReadsHistoryConfigurationAndConsole) {
  std::string console;
  const CollectEvents got = ReadWandb(SmallRun().bytes(), &console);
  ASSERT_EQ(got.Values("train/loss").size(), 2u);
  EXPECT_TRUE(std::isnan(got.Values("train/loss")[1]));
  EXPECT_EQ(got.All<Scalar>()[1].step, 20);
  EXPECT_EQ(got.All<Scalar>().size(), 2u);
  EXPECT_EQ(console, "step 20\r");
  ASSERT_EQ(got.Observed(kRunConfig).size(), 1u);
  EXPECT_EQ(got.Observed(kRunConfig)[0].Number("epochs"), 3.0);
  EXPECT_EQ(got.Observed(kRunConfig)[0].attributes.size(), 2u);
  EXPECT_EQ(got.All<Progress>().back().epochs_planned, 3.0);
}

TEST(WandbReader, NoExitRecordIsNoEnd) {
  const CollectEvents got = ReadWandb(SmallRun().bytes());
  ASSERT_EQ(got.Observed(kTrackerExit).size(), 1u);
  EXPECT_FALSE(got.Observed(kTrackerExit)[0].Number("exit_code"));
  EXPECT_TRUE(got.All<RunEnd>().empty());
}

TEST(WandbReader, TheExitRecordIsTheRunsEnd) {
  for (const int code : {0, 1, 255}) {
    WandbFile file = SmallRun();
    file.Add(Exit(code));
    const CollectEvents got = ReadWandb(file.bytes());
    ASSERT_EQ(got.All<RunEnd>().size(), 1u);
    EXPECT_EQ(got.All<RunEnd>()[0].end, ChildEnd::Exited(code));
    EXPECT_EQ(got.All<ExceptionSeen>().size(), code == 255 ? 1u : 0u);
  }
}

TEST(WandbReader, RecordsSpanBlocks) {
  WandbFile file;
  const std::string text(3 * kBlockBytes, 'x');
  file.Add(Output(text));
  file.Add(Output("end"));
  std::string console;
  ReadWandb(file.bytes(), &console);
  EXPECT_EQ(console, text + "end");
}

TEST(WandbReader, ABadChunkCostsAtMostItsBlock) {
  WandbFile file;
  for (int i = 0; i < 100; ++i) {
    file.Add(Output(std::string(1000, 'y')));
  }
  std::string bytes = file.bytes();
  bytes[500] = 'z';
  std::string console;
  const CollectEvents got = ReadWandb(bytes, &console);
  EXPECT_EQ(got.Dropped("import.wandb_bad_chunk"),
            2);  // The chunk, and the end of the record cut by the block.
  EXPECT_GT(console.size(), 60000u);
}

TEST(WandbReader, ACutFileGivesNoMoreThanTheWholeOneAndNoEnd) {
  WandbFile file = SmallRun();
  file.Add(Exit(1));
  const std::string& whole = file.bytes();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const CollectEvents got = ReadWandb(std::string_view(whole).substr(0, size));
    EXPECT_LE(got.All<Scalar>().size(), 2u) << "cut at byte " << size;
    EXPECT_TRUE(got.All<RunEnd>().empty()) << "cut at byte " << size;
    EXPECT_TRUE(got.All<Drop>().empty()) << "cut at byte " << size;
  }
}

}  // namespace
}  // namespace whystop

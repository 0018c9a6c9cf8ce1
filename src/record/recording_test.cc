#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "base/tfrecord.h"
#include "record/message.h"
#include "record/recording_folder.h"
#include "record/recording_reader.h"
#include "record/recording_writer.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

class RecordingTest : public ::testing::Test {
 protected:
  RecordingTest() {
    std::string pattern = (fs::temp_directory_path() / "whystop-record-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RecordingTest() override { fs::remove_all(folder_); }

  std::string Path(std::string_view name) const { return folder_ + "/run/" + std::string(name); }
  std::string Run() const { return folder_ + "/run"; }

  std::unique_ptr<RecordingWriter> Writer(const RecordingOptions& options = {}) {
    auto writer = RecordingWriter::Create(Run(), options);
    EXPECT_TRUE(writer) << (writer ? "" : writer.error().what);
    (*writer)->Start();
    return std::move(*writer);
  }

  std::vector<Record> ReadAll() {
    std::vector<Record> records;
    auto reader = RecordingReader::Open(Run());
    EXPECT_TRUE(reader);
    while (auto record = reader->Next()) {
      records.push_back(std::move(*record));
    }
    damage_ = reader->DamageAtEnd();
    return records;
  }

  std::string folder_;
  RecordingDamage damage_;
};

RunTime Seconds(int count) { return std::chrono::seconds(count); }

void WriteThreeEvents(RecordingWriter& writer) {
  RunStart start;
  start.command = {"python", "train.py"};
  start.environment["SLURM_JOB_ID"] = "7";
  start.limits["nofile"] = 1024;
  writer.Append({Seconds(0), start});
  writer.AppendLog(Seconds(1), LogStream::kStderr, "loss 0.5\n");
  RunEnd end;
  end.end = ChildEnd::Signaled(9, true);
  end.duration = Seconds(2);
  writer.Append({Seconds(2), end});
  writer.Finish();
}

TEST_F(RecordingTest, GivesBackWhatWasWritten) {
  WriteThreeEvents(*Writer());
  const auto records = ReadAll();
  ASSERT_EQ(records.size(), 3U);
  const auto* start = std::get<Event>(records[0].body).As<RunStart>();
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->command, (std::vector<std::string>{"python", "train.py"}));
  EXPECT_EQ(start->environment.at("SLURM_JOB_ID"), "7");
  EXPECT_EQ(start->limits.at("nofile"), 1024);
  EXPECT_EQ(std::get<LogBytes>(records[1].body).bytes, "loss 0.5\n");
  const auto* end = std::get<Event>(records[2].body).As<RunEnd>();
  ASSERT_NE(end, nullptr);
  EXPECT_EQ(end->end, ChildEnd::Signaled(9, true));
  EXPECT_EQ(records[2].at, Seconds(2));
}

/// Goal: wherever the machine stopped writing, all whole frames before that point are readable and
/// the rest is called torn, not corrupt. Method: cut a small recording at every length there is.
TEST_F(RecordingTest, ReadsEveryPrefixOfARecording) {
  WriteThreeEvents(*Writer());
  const auto whole = fs::file_size(Path(kEventsFile));
  std::size_t records_before = 0;
  for (std::uintmax_t size = whole; size > 0; --size) {
    fs::resize_file(Path(kEventsFile), size);
    const auto records = ReadAll();
    EXPECT_EQ(damage_.corrupt_bytes + damage_.corrupt_frames, 0) << "cut at byte " << size;
    EXPECT_TRUE(records_before == 0 || records.size() <= records_before) << "cut at byte " << size;
    records_before = records.size();
  }
}

/// Goal: a flipped bit costs the frame it is in, never the frames before or behind it, and is
/// called corruption.
TEST_F(RecordingTest, AFlippedByteCostsOneFrame) {
  WriteThreeEvents(*Writer());
  const auto whole = fs::file_size(Path(kEventsFile));
  for (std::uintmax_t at = 0; at < whole; ++at) {
    std::fstream file(Path(kEventsFile), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(at));
    const char byte = static_cast<char>(file.get());
    file.seekp(static_cast<std::streamoff>(at));
    file.put(static_cast<char>(byte ^ 0x10));
    file.close();
    EXPECT_GE(ReadAll().size(), 2U) << "flipped byte " << at;
    std::fstream again(Path(kEventsFile), std::ios::in | std::ios::out | std::ios::binary);
    again.seekp(static_cast<std::streamoff>(at));
    again.put(byte);
  }
  EXPECT_EQ(ReadAll().size(), 3U);
}

TEST_F(RecordingTest, KeepsHeadAndTailOfALongLog) {
  RecordingOptions options;
  options.log_head_bytes = 1000;
  options.log_tail_bytes = 4000;
  options.queue_bytes = 64 << 20;
  auto writer = Writer(options);
  std::string all;
  for (int i = 0; i < 2000; ++i) {
    const std::string line = "line " + std::to_string(i) + "\n";
    writer->AppendLog(Seconds(i), LogStream::kStdout, line);
    all += line;
  }
  writer->Finish();
  std::string head;
  std::string tail;
  std::int64_t next = 0;
  for (const Record& record : ReadAll()) {
    const auto& log = std::get<LogBytes>(record.body);
    (log.offset == next && tail.empty() ? head : tail) += log.bytes;
    next = log.offset + static_cast<std::int64_t>(log.bytes.size());
  }
  EXPECT_GE(head.size(), 1000U);
  EXPECT_EQ(all.compare(0, head.size(), head), 0);
  EXPECT_GE(tail.size(), 500U);  // The bound counts the frames around the lines too.
  EXPECT_LE(tail.size(), 5000U);
  EXPECT_EQ(all.compare(all.size() - tail.size(), tail.size(), tail), 0);
}

TEST_F(RecordingTest, SamplesLeaveOutWhatDidNotChange) {
  auto writer = Writer();
  for (int i = 0; i < 3; ++i) {
    writer->Append(
        {Seconds(i), Sample{{{1, Quantity::kHostCpus, 2}, {1, Quantity::kHostUptimeMs, i}}}});
  }
  writer->Finish();
  const auto records = ReadAll();
  ASSERT_EQ(records.size(), 3U);
  EXPECT_EQ(std::get<Event>(records[0].body).As<Sample>()->readings.size(), 2U);
  EXPECT_EQ(std::get<Event>(records[2].body).As<Sample>()->readings.size(), 1U);
}

TEST_F(RecordingTest, ASecondWriterIsRefusedWithTheFirstOnesPid) {
  const auto first = Writer();
  const auto second = RecordingWriter::Create(Run(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Error::Code::kBusy);
  EXPECT_NE(second.error().what.find(std::to_string(::getpid())), std::string::npos);
}

TEST_F(RecordingTest, ANewRunInTheSameFolderKeepsTheEarlierOne) {
  WriteThreeEvents(*Writer());
  WriteThreeEvents(*Writer());
  EXPECT_TRUE(fs::exists(Run() + "/earlier-1/events.tfrecord"));
  EXPECT_EQ(ReadAll().size(), 3U);
}

/// Goal: a recording stays small however long the run is, and has its start and its end.
TEST_F(RecordingTest, EventsAreBounded) {
  RecordingOptions options;
  options.events_bytes = 64 << 10;
  options.late_bytes = 32 << 10;
  {
    auto writer = Writer(options);
    for (int i = 0; i < 20000; ++i) {
      writer->Append({Seconds(i), RecorderNote{"note " + std::to_string(i)}});
    }
    writer->Finish();
  }
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(Run())) {
    bytes += entry.is_regular_file() && entry.path().filename() != kReserveFile ? entry.file_size() : 0;
  }
  EXPECT_LT(bytes, 120U << 10);
  std::vector<std::string> notes;
  std::int64_t dropped = 0;
  for (const Record& record : ReadAll()) {
    const auto* event = std::get_if<Event>(&record.body);
    if (const auto* note = event != nullptr ? event->As<RecorderNote>() : nullptr) {
      notes.push_back(note->text);
    } else if (const auto* drop = event != nullptr ? event->As<Drop>() : nullptr) {
      dropped += drop->count;
    }
  }
  ASSERT_FALSE(notes.empty());
  EXPECT_EQ(notes.front(), "note 0");
  EXPECT_EQ(notes.back(), "note 19999");
  EXPECT_GT(dropped, 0);
  EXPECT_EQ(damage_.corrupt_frames, 0);
}

/// Goal: between the events and the late files, a thinned middle is read where these have nothing, and
/// nowhere else: no record comes twice.
TEST_F(RecordingTest, TheMiddleIsReadWhereTheLateFilesHaveNothing) {
  RecordingOptions options;
  options.events_bytes = 4 << 10;
  options.late_bytes = 4 << 10;
  {
    auto writer = Writer(options);
    for (int i = 0; i < 2000; ++i) {
      writer->Append({Seconds(i), RecorderNote{"note " + std::to_string(i)}});
    }
    writer->Finish();
  }
  const auto notes_of = [this] {
    std::vector<std::string> notes;
    for (const Record& record : ReadAll()) {
      const auto* event = std::get_if<Event>(&record.body);
      if (const auto* note = event != nullptr ? event->As<RecorderNote>() : nullptr) {
        notes.push_back(note->text);
      }
    }
    return notes;
  };
  const std::vector<std::string> without = notes_of();
  const std::set<std::string> seen(without.begin(), without.end());
  std::string middle;
  std::size_t between = 0;
  for (int i = 0; i < 2000; i += 10) {  // As if every tenth had been worth keeping.
    const std::string text = "note " + std::to_string(i);
    between += i > 200 && i < 1900 && !seen.contains(text) ? 1 : 0;
    if (i > 200) {  // Behind what the events hold.
      AppendTfRecord(middle, EncodeEvent({Seconds(i), RecorderNote{text}}));
    }
  }
  std::ofstream(Path(kMiddleFile), std::ios::binary) << middle;
  const std::vector<std::string> with = notes_of();
  EXPECT_GT(between, 100U);
  EXPECT_EQ(std::set<std::string>(with.begin(), with.end()).size(), with.size()) << "one came twice";
  EXPECT_GE(with.size(), without.size() + between);
  EXPECT_EQ(with.back(), "note 1999");
}

/// A log that comes slowly is still at its head when the events are full; it must not be lost with them.
TEST_F(RecordingTest, ALogThatComesSlowlyIsKeptWhenTheEventsAreFull) {
  RecordingOptions options;
  options.events_bytes = 8 << 10;
  options.late_bytes = 8 << 10;
  {
    auto writer = Writer(options);
    for (int i = 0; i < 5000; ++i) {
      writer->Append({Seconds(i), RecorderNote{"note " + std::to_string(i)}});
      if (i % 100 == 0) {
        writer->AppendLog(Seconds(i), LogStream::kStdout, "line " + std::to_string(i) + "\n");
      }
    }
    writer->Finish();
  }
  std::string log;
  for (const Record& record : ReadAll()) {
    if (const auto* bytes = std::get_if<LogBytes>(&record.body)) {
      log += bytes->bytes;
    }
  }
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 50);
}

TEST_F(RecordingTest, AFolderThatOthersCouldUseIsRefused) {
  const auto refusal = [](const std::string& path) {
    const auto writer = RecordingWriter::Create(path, {});
    return writer ? std::string("accepted") : writer.error().what;
  };
  fs::create_directory(folder_ + "/real");
  fs::create_directory_symlink(folder_ + "/real", folder_ + "/link");
  EXPECT_NE(refusal(folder_ + "/link").find("is a symbolic link"), std::string::npos);
  fs::permissions(folder_ + "/real", fs::perms::all);
  EXPECT_NE(refusal(folder_ + "/real").find("may be written by others"), std::string::npos);
  fs::permissions(folder_ + "/real", fs::perms::owner_all);
  fs::create_symlink(folder_ + "/elsewhere", folder_ + "/real/" + std::string(kEventsFile));
  EXPECT_NE(refusal(folder_ + "/real"), "accepted");
  EXPECT_FALSE(fs::exists(folder_ + "/elsewhere"));
}

TEST_F(RecordingTest, AFifoAmongTheFilesIsNotWaitedFor) {
  WriteThreeEvents(*Writer());
  fs::remove(Path(kReserveFile));
  ASSERT_EQ(::mkfifo(Path(kReserveFile).c_str(), 0600), 0);
  EXPECT_FALSE(ReadAll().empty());
}

TEST_F(RecordingTest, AnEndlessSparseFileIsGivenUp) {
  WriteThreeEvents(*Writer());
  const auto sound = fs::file_size(Path(kEventsFile));
  fs::resize_file(Path(kEventsFile), sound + (std::uintmax_t{8} << 30));
  EXPECT_FALSE(ReadAll().empty());
  EXPECT_GT(damage_.corrupt_bytes, std::int64_t{7} << 30);
}

TEST_F(RecordingTest, AFileInTheWayIsAClearError) {
  std::ofstream(Run()) << "in the way";
  const auto writer = RecordingWriter::Create(Run(), {});
  ASSERT_FALSE(writer);
  EXPECT_NE(writer.error().what.find("not a folder"), std::string::npos) << writer.error().what;
}

TEST_F(RecordingTest, ANewerFormatIsRefused) {
  fs::create_directory(Run());
  std::string frame;
  AppendTfRecord(frame, EncodeHeader({kRecordingFormat + 1, "9.9"}));
  std::ofstream(Path(kEventsFile), std::ios::binary) << frame;
  const auto reader = RecordingReader::Open(Run());
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, Error::Code::kTooNew);
}

}  // namespace
}  // namespace whystop

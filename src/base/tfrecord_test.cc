#include "base/tfrecord.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace whystop {
namespace {

using State = TfRecord::State;

struct ReadBack {
  std::vector<std::string> bodies;
  std::vector<State> faults;
  std::uint64_t torn_bytes = 0;
  std::uint64_t skipped_bytes = 0;
};

ReadBack ReadAll(std::string_view bytes, std::size_t piece_bytes,
                 std::size_t body_bytes_max = 1000) {
  ReadBack got;
  TfRecordReader reader(body_bytes_max);
  for (std::size_t at = 0; at <= bytes.size(); at += piece_bytes) {
    const std::string piece(
        bytes.substr(at, piece_bytes));  // A copy: nothing may look beyond the piece.
    reader.Feed(piece);
    for (TfRecord record = reader.Next(); record.state != State::kTruncated;
         record = reader.Next()) {
      if (record.state == State::kWhole) {
        got.bodies.emplace_back(record.body);
      } else {
        got.faults.push_back(record.state);
      }
    }
  }
  got.torn_bytes = reader.torn_bytes();
  got.skipped_bytes = reader.skipped_bytes();
  return got;
}

std::string ThreeRecords() {
  std::string file;
  AppendTfRecord(file, "first");
  AppendTfRecord(file, "");
  AppendTfRecord(file, std::string(100, 'x'));
  return file;
}

TEST(TfRecord, ReadsBackWhatWasWrittenInPiecesOfAnySize) {
  const std::string file = ThreeRecords();
  for (std::size_t piece = 1; piece <= file.size() + 1; ++piece) {
    const ReadBack got = ReadAll(file, piece);
    ASSERT_EQ(got.bodies.size(), 3u) << "pieces of " << piece;
    EXPECT_EQ(got.bodies[0], "first");
    EXPECT_EQ(got.bodies[1], "");
    EXPECT_EQ(got.bodies[2], std::string(100, 'x'));
    EXPECT_TRUE(got.faults.empty());
    EXPECT_EQ(got.torn_bytes, 0u);
  }
}

/// Goal: wherever the writer stopped, the whole frames before are read and the rest is torn, not
/// corrupt.
TEST(TfRecord, CallsEveryPrefixTornNotCorrupt) {
  const std::string file = ThreeRecords();
  std::size_t bodies_before = 0;
  for (std::size_t size = 0; size <= file.size(); ++size) {
    const ReadBack got = ReadAll(std::string_view(file).substr(0, size), 7);
    EXPECT_GE(got.bodies.size(), bodies_before) << "cut at byte " << size;
    EXPECT_TRUE(got.faults.empty()) << "cut at byte " << size;
    bodies_before = got.bodies.size();
  }
  EXPECT_EQ(bodies_before, 3u);
}

TEST(TfRecord, EveryFlippedByteIsNoticedAndTheOtherFramesSurvive) {
  const std::string file = ThreeRecords();
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
    const ReadBack got = ReadAll(damaged, 64);
    EXPECT_EQ(got.bodies.size(), 2u) << "flipped byte " << at;
    EXPECT_EQ(got.faults.size(), 1u) << "flipped byte " << at;
  }
}

TEST(TfRecord, FindsTheNextFrameAfterGarbage) {
  std::string file = ThreeRecords();
  file.append(50, '\0');
  AppendTfRecord(file, "after");
  const ReadBack got = ReadAll(file, 16);
  ASSERT_EQ(got.bodies.size(), 4u);
  EXPECT_EQ(got.bodies[3], "after");
  EXPECT_EQ(got.skipped_bytes, 50u);
}

TEST(TfRecord, PassesOverALongBodyAndStillChecksIt) {
  std::string file;
  AppendTfRecord(file, std::string(5000, 'y'));
  AppendTfRecord(file, "small");
  for (const std::size_t piece : {std::size_t{1}, std::size_t{333}, file.size()}) {
    const ReadBack got = ReadAll(file, piece);
    EXPECT_EQ(got.bodies, std::vector<std::string>{"small"});
    EXPECT_EQ(got.faults, std::vector<State>{State::kTooLong});
  }
  file[2000] = 'z';
  EXPECT_EQ(ReadAll(file, 100).faults, std::vector<State>{State::kBadBody});
}

}  // namespace
}  // namespace whystop

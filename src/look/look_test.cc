#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "look/elf_symbol.h"
#include "look/line_table.h"
#include "look/memory_map.h"
#include "look/python_layout.h"
#include "look/python_text.h"
#include "look/remote_memory.h"
#include "look/stack_signal.h"
#include "look/thread_facts.h"
#include "model/process_look.h"

namespace whystop {
namespace {

using namespace std::string_literals;

TEST(MemoryMap, TakesTheFirstPartOfEachFile) {
  const auto files = ParseMaps(
      "55d0-55d1 r--p 00000000 08:01 11     /usr/bin/python3.9\n"
      "55d1-55d2 r-xp 00001000 08:01 11     /usr/bin/python3.9\n"
      "7f00-7f01 rw-p 00000000 00:00 0 \n"
      "7f10-7f11 r--p 00000000 08:01 12     /data/a file.so\n"
      "garbage\n");
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].start, 0x55d0U);
  EXPECT_EQ(files[1].path, "/data/a file.so");
}

TEST(PythonLayout, ReadsTheVersionInAName) {
  EXPECT_EQ(MinorInName("/usr/lib/libpython3.11.so.1.0"), 11);
  EXPECT_EQ(MinorInName("/opt/bin/python3.9"), 9);
  EXPECT_EQ(MinorInName("/usr/bin/python3"), std::nullopt);
  EXPECT_FALSE(LayoutOfVersion(8));
  EXPECT_TRUE(LayoutOfVersion(12));
}

/// A string object as Python has it in memory: 16 bytes of head, length, hash, state, letters.
struct AsciiText {
  std::uint64_t head[2] = {1, 2};
  std::int64_t length = 5;
  std::int64_t hash = -1;
  std::uint32_t state = 0;
  char letters[12] = {'x', 'x', 'x', 'x', 't', 'r', 'a', 'i', 'n', 0, 0, 0};
};

TEST(PythonText, IsReadHoweverManyBitsTellThatItIsInterned) {
  const PythonLayout layout = {.minor = 14, .ascii_bytes = 40, .compact_bytes = 56};
  const RemoteMemory memory(getpid());
  for (const unsigned bits : {2U, 8U, 16U}) {
    for (const unsigned interned : {0U, 3U}) {
      AsciiText text;
      text.state = interned | 0b11001U << bits;  // One byte a letter, compact, ascii.
      EXPECT_EQ(ReadPythonText(memory, layout, reinterpret_cast<std::uint64_t>(&text)), "train");
      text.state = interned | 0b11011U << bits;  // Three bytes a letter: no string.
      EXPECT_FALSE(ReadPythonText(memory, layout, reinterpret_cast<std::uint64_t>(&text)));
    }
  }
  EXPECT_FALSE(ReadPythonText(memory, layout, 8));
}

/// Lines of `def f():` at 1, `a = 1` at 2, a loop of two lines and a line far below, as the
/// compilers of the versions wrote them.
TEST(LineTable, Of39CountsBytesAndLines) {
  const std::string table = "\x00\x01\x04\x01\x08\x02"s;
  EXPECT_EQ(LineAt(9, table, 1, 0), 2);
  EXPECT_EQ(LineAt(9, table, 1, 4), 3);
  EXPECT_EQ(LineAt(9, table, 1, 40), 5);
}

TEST(LineTable, Of310HasRangesAndInstructionsWithoutALine) {
  const std::string table = "\x04\x01\x02\x80\x06\x02"s;
  EXPECT_EQ(LineAt(10, table, 1, 2), 2);
  EXPECT_EQ(LineAt(10, table, 1, 4), 0);
  EXPECT_EQ(LineAt(10, table, 1, 8), 4);
}

TEST(LineTable, Of311HasFormsOfDifferentLength) {
  // One unit in the short form, two on the next line, one a long way up, one without a line.
  const std::string table = {char(0x80), 0x10,       char(0xd9), 0x01, 0x02,      char(0xf0), 0x05,
                             0x00,       0x01,       0x01,       char(0xf8)};
  EXPECT_EQ(LineAt(11, table, 10, 0), 10);
  EXPECT_EQ(LineAt(11, table, 10, 2), 11);
  EXPECT_EQ(LineAt(11, table, 10, 4), 11);
  EXPECT_EQ(LineAt(11, table, 10, 6), 9);
  EXPECT_EQ(LineAt(11, table, 10, 8), 0);
}

TEST(LineTable, SurvivesEveryCut) {
  const std::string table = {char(0xf0), 0x7f, 0x7f, 0x7f, 0x7f, char(0xd9), 0x01, 0x02};
  for (const int minor : {9, 10, 11}) {
    for (std::size_t size = 0; size <= table.size(); ++size) {
      LineAt(minor, std::string_view(table).substr(0, size), 1, 100);
    }
  }
}

TEST(StackDump, IsReadOutermostFirst) {
  const auto threads = ParseStackDump(
      "Thread 0x00007f01 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/threading.py\", line 320 in wait\n"
      "\n"
      "Current thread 0x00007f02 (most recent call first):\n"
      "  File \"/home/user/my code.py\", line 12 in step\n"
      "  File \"/home/user/my code.py\", line 40 in <module>\n");
  ASSERT_EQ(threads.size(), 2U);
  EXPECT_FALSE(threads[0].current);
  ASSERT_EQ(threads[1].frames.size(), 2U);
  EXPECT_EQ(threads[1].frames.back().function, "step");
  EXPECT_EQ(threads[1].frames.back().line, 12);
  EXPECT_TRUE(threads[1].frames.back().users_own);
  EXPECT_FALSE(threads[0].frames.back().users_own);
}

TEST(SystemCall, IsReadAsTheKernelWritesIt) {
  SystemCall call;
  ASSERT_TRUE(ParseSystemCall("0 0x3 0x7ffc 0x1000 0x0 0x0 0x0 0x7ffc 0x7f01\n", call));
  EXPECT_EQ(call.number, 0);
  EXPECT_EQ(call.arguments[0], 3U);
  EXPECT_FALSE(ParseSystemCall("running\n", call));
  EXPECT_FALSE(ParseSystemCall("-1 0x7ffc 0x7f01\n", call));
}

TEST(RemoteMemory, ReadsWhatIsThereAndRefusesWhatIsNot) {
  const std::uint64_t here = 42;
  const RemoteMemory memory(::getpid());
  EXPECT_EQ(memory.Value<std::uint64_t>(reinterpret_cast<std::uint64_t>(&here)), here);
  EXPECT_FALSE(memory.Value<std::uint64_t>(0));
  EXPECT_FALSE(memory.Value<std::uint64_t>(8));
}

TEST(ElfSymbol, IsAbsentInWhatIsNoElfFile) {
  EXPECT_FALSE(FindElfSymbol("/proc/self/status", "main"));
  EXPECT_FALSE(FindElfSymbol("/nowhere", "main"));
  EXPECT_FALSE(FindElfSymbol("/proc/self/exe", "no_such_symbol_anywhere"));
}

TEST(ProcessLook, ComesBackFromTheRecordingAsItWas) {
  ProcessLook look;
  look.pid = 7;
  look.rank = 1;
  look.ranks = 4;
  look.state = 'S';
  look.python = "3.12";
  look.same_frames = true;
  look.cpu_share = 0.5;
  look.threads.push_back({.tid = 7, .name = "a\tb", .state = 'S', .cpu_ms = 12, .holds_gil = true,
                          .waits_in = "read", .waits_for = "/data/x", .frames = {}});
  look.threads[0].frames.push_back({"/home/user/a b.py", 3, "f", "x = 1", true});
  const auto back = ToProcessLook(ToObservation(look, 2));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->pid, 7);
  EXPECT_EQ(back->rank, 1);
  EXPECT_EQ(back->ranks, 4);
  EXPECT_TRUE(back->same_frames);
  ASSERT_EQ(back->threads.size(), 1U);
  EXPECT_EQ(back->threads[0].name, "a b");
  EXPECT_TRUE(back->threads[0].holds_gil);
  ASSERT_EQ(back->threads[0].frames.size(), 1U);
  EXPECT_EQ(back->threads[0].frames[0].line, 3);
  EXPECT_TRUE(back->threads[0].frames[0].users_own);
}

}  // namespace
}  // namespace whystop

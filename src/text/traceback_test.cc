#include "text/traceback.h"

#include <gtest/gtest.h>

#include <string>

namespace whystop {
namespace {

std::vector<PrintedException> Read(std::string_view log) {
  TracebackReader reader("log");
  std::int64_t number = 0;
  std::vector<PrintedException> all;
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    static_cast<void>(reader.Push(PeelPrefix(log.substr(0, end)), ++number));
    for (PrintedException& one : reader.TakeFinished()) {
      all.push_back(std::move(one));
    }
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  reader.Finish();
  for (PrintedException& one : reader.TakeFinished()) {
    all.push_back(std::move(one));
  }
  return all;
}

TEST(Traceback, KeepsFramesSourceAndMessage) {
  const auto all = Read(
      "Traceback (most recent call last):\n"
      "  File \"/home/me/train.py\", line 34, in <module>\n"
      "    main()\n"
      "    ^^^^^^\n"
      "  File \"/usr/lib/python3.10/site-packages/torch/x.py\", line 7, in f\n"
      "    raise ValueError(\n"
      "ValueError: bad shape:\n"
      "more of it\n"
      "\n"
      "done\n");
  ASSERT_EQ(all.size(), 1U);
  const ExceptionSeen& seen = all[0].seen;
  EXPECT_EQ(seen.type, "ValueError");
  EXPECT_EQ(seen.message, "bad shape:\nmore of it");
  ASSERT_EQ(seen.frames.size(), 2U);
  EXPECT_EQ(seen.frames[0].source, "main()");
  EXPECT_EQ(seen.frames[0].line, 34);
  EXPECT_TRUE(seen.frames[0].users_own);
  EXPECT_FALSE(seen.frames[1].users_own);
  EXPECT_EQ(seen.place.line, 1);
}

TEST(Traceback, ChainGivesFirstAndLast) {
  const auto all = Read(
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in f\n"
      "KeyError: 'x'\n"
      "\n"
      "During handling of the above exception, another exception occurred:\n"
      "\n"
      "Traceback (most recent call last):\n"
      "  File \"b.py\", line 2, in g\n"
      "RuntimeError: no x\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].seen.type, "RuntimeError");
  EXPECT_EQ(all[0].seen.first_type, "KeyError");
  EXPECT_EQ(all[0].seen.first_message, "'x'");
}

TEST(Traceback, AnInterruptOfTheExitIsNotWhatEndedTheProgram) {
  const std::string first =
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in f\n"
      "KeyError: 'x'\n"
      "\n"
      "During handling of the above exception, another exception occurred:\n"
      "\n"
      "Traceback (most recent call last):\n";
  const auto at_exit = Read(first +
                            "  File \"/usr/lib/python3.10/multiprocessing/util.py\", line 357, in "
                            "_exit_function\n    p.join()\nKeyboardInterrupt\n");
  ASSERT_EQ(at_exit.size(), 1U);
  EXPECT_EQ(at_exit[0].seen.type, "KeyError");
  ASSERT_EQ(at_exit[0].seen.frames.size(), 1U);
  EXPECT_EQ(at_exit[0].seen.frames[0].file, "a.py");
  const auto waiting = Read(first + "  File \"b.py\", line 2, in g\nKeyboardInterrupt\n");
  EXPECT_EQ(waiting.at(0).seen.type, "KeyboardInterrupt");
}

TEST(Traceback, AFigureIsNoException) {
  EXPECT_TRUE(ReadBareException("ValueError: bad shape", {}).has_value());
  EXPECT_TRUE(ReadBareException("torch.OutOfMemoryError: CUDA out of memory", {}).has_value());
  EXPECT_TRUE(ReadBareException("KeyError: 3", {}).has_value());
  EXPECT_FALSE(ReadBareException("TestError: 0.25", {}).has_value());
  EXPECT_FALSE(ReadBareException("Mean Error: bad", {}).has_value());
}

TEST(Traceback, WorkersOwnExceptionIsTheFirst) {
  const auto all = Read(
      "0: Traceback (most recent call last):\n"
      "0:   File \"train.py\", line 1, in <module>\n"
      "0: FileNotFoundError: Caught FileNotFoundError in DataLoader worker process 3.\n"
      "0: Original Traceback (most recent call last):\n"
      "0:   File \"data.py\", line 9, in __getitem__\n"
      "0:     open(path)\n"
      "0: FileNotFoundError: [Errno 2] No such file or directory: 'a.jpg'\n"
      "0: \n"
      "0: other\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_TRUE(all[0].seen.in_worker);
  EXPECT_EQ(all[0].seen.rank, 0);
  EXPECT_EQ(all[0].seen.first_message, "[Errno 2] No such file or directory: 'a.jpg'");
  EXPECT_EQ(all[0].seen.frames.back().function, "__getitem__");
}

TEST(Traceback, RanksMayInterleave) {
  const auto all = Read(
      "[rank0]: Traceback (most recent call last):\n"
      "[rank1]: Traceback (most recent call last):\n"
      "[rank0]:   File \"a.py\", line 1, in f\n"
      "[rank1]:   File \"a.py\", line 2, in f\n"
      "[rank1]: ValueError: one\n"
      "[rank0]: ValueError: zero\n");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].seen.message, "zero");
  EXPECT_EQ(all[1].seen.message, "one");
}

TEST(Traceback, WarningsAndIgnoredExceptionsAreOnlyTold) {
  const auto logged = Read(
      "[2023-11-29 11:05:09,399] torch._dynamo: [WARNING] Traceback (most recent call last):\n"
      "[2023-11-29 11:05:09,399] torch._dynamo: [WARNING]   File \"a.py\", line 1, in f\n"
      "[2023-11-29 11:05:09,399] torch._dynamo: [WARNING] FileNotFoundError: ldconfig\n");
  ASSERT_EQ(logged.size(), 1U);
  EXPECT_TRUE(logged[0].warned);
  const auto ignored = Read(
      "Exception ignored in: <function _Iter.__del__ at 0x7f>\n"
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in __del__\n"
      "AssertionError: can only test a child process\n");
  ASSERT_EQ(ignored.size(), 1U);
  EXPECT_TRUE(ignored[0].warned);
}

TEST(Traceback, SyntaxErrorsHaveNoHeader) {
  const auto all = Read(
      "  File \"train.py\", line 3\n    def f(\n         ^\nSyntaxError: '(' was never closed\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].seen.type, "SyntaxError");
}

TEST(Traceback, BoxedTracebacksOfRich) {
  const auto all = Read(
      "\xE2\x95\xAD\xE2\x94\x80 Traceback (most recent call last) \xE2\x94\x80\xE2\x95\xAE\n"
      "\xE2\x94\x82 /home/me/train.py:12 in main      \xE2\x94\x82\n"
      "\xE2\x94\x82   12   x = 1 / 0                  \xE2\x94\x82\n"
      "\xE2\x95\xB0\xE2\x94\x80\xE2\x94\x80\xE2\x95\xAF\n"
      "ZeroDivisionError: division by zero\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].seen.type, "ZeroDivisionError");
  ASSERT_EQ(all[0].seen.frames.size(), 1U);
  EXPECT_EQ(all[0].seen.frames[0].line, 12);
}

TEST(Traceback, ExceptionGroupNamesItsFirst) {
  const auto all = Read(
      "  + Exception Group Traceback (most recent call last):\n"
      "  |   File \"a.py\", line 1, in <module>\n"
      "  | ExceptionGroup: unhandled errors (1 sub-exception)\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].seen.type, "ExceptionGroup");
}

TEST(Traceback, OtherSpeakersEndTheMessage) {
  const auto all = Read(
      "Traceback (most recent call last):\n"
      "  File \"a.py\", line 1, in f\n"
      "RuntimeError: DataLoader worker (pid 1) is killed by signal: Killed. \n"
      "slurmstepd: error: Detected 1 oom_kill event\n");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].seen.message, "DataLoader worker (pid 1) is killed by signal: Killed.");
}

}  // namespace
}  // namespace whystop

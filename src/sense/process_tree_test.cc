#include "sense/process_tree.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "sense/test_sweep.h"

namespace whystop {
namespace {

namespace fs = std::filesystem;

SenseOptions OptionsFor(const std::string& root) {
  SenseOptions options;
  options.roots = FakeRoots(root);
  return options;
}

/// A copy of a fake root that a test may change.
class ScratchRoot {
 public:
  explicit ScratchRoot(const std::string& root)
      : path_(fs::path(::testing::TempDir()) / ("whystop-root-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::copy(fs::path(WHYSTOP_SOURCE_DIR) / "tests/roots" / root, path_,
             fs::copy_options::recursive);
  }
  ~ScratchRoot() { fs::remove_all(path_); }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

TEST(ProcessTree, FollowsChildrenAndAddsThemUp) {
  DescriptorBudget budget(100);
  ProcessTree tree(OptionsFor("cgroup_v1_host"), budget);
  TestSweep test;
  const pid_t pids[] = {4242};
  tree.Sample(pids, false, test.sweep);
  EXPECT_EQ(test.Value("", Quantity::kTreeProcesses), 2);
  EXPECT_EQ(test.Value("python3", Quantity::kProcessRssBytes), 262144LL * ::sysconf(_SC_PAGESIZE));
  EXPECT_EQ(test.Value("python3", Quantity::kProcessAnonBytes), 917504LL * 1024);
  EXPECT_EQ(test.Value("python3", Quantity::kProcessShmemBytes), 32768LL * 1024);
  EXPECT_EQ(test.Value("python3", Quantity::kProcessSwapBytes), 2048LL * 1024);
  EXPECT_EQ(test.Value("python3", Quantity::kProcessReadBytes), 4194304);
  EXPECT_EQ(test.Value("python3", Quantity::kProcessWrittenBytes), 524288);
  EXPECT_EQ(test.Value("python3", Quantity::kProcessMajorFaults), 12);
  EXPECT_EQ(test.Value("", Quantity::kTreeAnonBytes), 2 * 917504LL * 1024);
  EXPECT_EQ(test.Value("", Quantity::kTreeThreads), 18);
  EXPECT_EQ(test.Value("python3 (w) R 1", Quantity::kProcessThreads), 9) << "brackets in the name";
  const auto* start = test.events[1].As<ProcessStart>();
  ASSERT_NE(start, nullptr);
  EXPECT_EQ(start->command, "python3 train.py --epochs 10");
}

TEST(ProcessTree, FindsChildrenByScanningWhereTheKernelListsNone) {
  const ScratchRoot root("cgroup_v1_host");
  fs::remove_all(root.path() / "proc/4242/task");
  fs::remove_all(root.path() / "proc/4243/task");
  SenseOptions options;
  options.roots.proc = root.path() / "proc";
  DescriptorBudget budget(100);
  ProcessTree tree(options, budget);
  const pid_t pids[] = {4242};
  TestSweep first;
  tree.Sample(pids, false, first.sweep);  // Learns that the files are missing.
  TestSweep later(std::chrono::seconds(120));
  tree.Sample(pids, false, later.sweep);
  EXPECT_EQ(tree.processes().size(), 2U);
  EXPECT_EQ(ScanDescendants(options.roots.proc, pids), std::vector<pid_t>{4243});
}

TEST(ProcessTree, ReportsAProcessThatVanishedBetweenTwoSweeps) {
  const ScratchRoot root("cgroup_v1_host");
  SenseOptions options;
  options.roots.proc = root.path() / "proc";
  DescriptorBudget none(0);  // Kept descriptors would outlive these ordinary files.
  ProcessTree tree(options, none);
  const pid_t pids[] = {4242};
  TestSweep first;
  tree.Sample(pids, false, first.sweep);
  fs::remove_all(root.path() / "proc/4243");
  TestSweep second(std::chrono::seconds(61));
  tree.Sample(pids, false, second.sweep);
  ASSERT_EQ(tree.vanished().size(), 1U);
  EXPECT_EQ(tree.vanished()[0].pid, 4243);
  EXPECT_EQ(tree.vanished()[0].parent_pid, 4242);
  EXPECT_EQ(second.Value("", Quantity::kTreeProcesses), 1);
}

TEST(ProcessTree, TakesAReusedPidForAnotherProcess) {
  const ScratchRoot root("cgroup_v2_container");
  SenseOptions options;
  options.roots.proc = root.path() / "proc";
  DescriptorBudget none(0);
  ProcessTree tree(options, none);
  const pid_t pids[] = {4242};
  TestSweep first;
  tree.Sample(pids, false, first.sweep);
  const auto stat = ReadFile(root.path() / "proc/4242/stat");
  std::string other = *stat;
  other.replace(other.find("88231"), 5, "99999");  // Started later.
  auto fd = OpenFd(root.path() / "proc/4242/stat", O_WRONLY | O_TRUNC);
  ASSERT_EQ(WriteAll(fd->get(), other), 0);
  TestSweep second(std::chrono::seconds(61));
  tree.Sample({}, false, second.sweep);
  ASSERT_EQ(tree.vanished().size(), 1U);
  EXPECT_TRUE(tree.processes().empty());
}

TEST(ProcessTree, SurvivesGarbage) {
  DescriptorBudget budget(100);
  ProcessTree tree(OptionsFor("garbage"), budget);
  TestSweep test;
  const pid_t pids[] = {4242, 0, -7};
  tree.Sample(pids, false, test.sweep);
  EXPECT_EQ(test.Value("", Quantity::kTreeProcesses), 1);
  EXPECT_EQ(test.Value("python3", Quantity::kProcessAnonBytes), std::nullopt);
  EXPECT_EQ(test.Value("", Quantity::kTreeAnonBytes), std::nullopt);
}

TEST(ParseProcessStat, RefusesWhatIsNotWhole) {
  EXPECT_FALSE(ParseProcessStat(""));
  EXPECT_FALSE(ParseProcessStat("12 (a) S 1 2 3"));
  EXPECT_FALSE(ParseProcessStat(")("));
  EXPECT_FALSE(ParseProcessStat("x (a) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 5 0 7"));
  const auto whole = ParseProcessStat("12 (a) b) S 1 1 1 0 -1 0 0 0 4 0 1 2 3 4 20 0 6 0 5 0 7");
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->name, "a) b");
  EXPECT_EQ(whole->major_faults, 4);
  EXPECT_EQ(whole->reaped_ticks, 7);
  EXPECT_EQ(whole->threads, 6);
  EXPECT_EQ(whole->rss_pages, 7);
}

TEST(ParseCommandLine, TellsNoSecretAndCommandsNoTerminal) {
  using namespace std::string_view_literals;
  EXPECT_EQ(ParseCommandLine("python\0train.py\0--token\0abc\0"sv, 512), "python train.py --token ***");
  EXPECT_EQ(ParseCommandLine("curl\0-H\0Authorization: Bearer abc\0"sv, 512),
            "curl -H Authorization: ***");
  EXPECT_EQ(ParseCommandLine("a title --db-pass=abc"sv, 512), "a title --db-pass=***");
  EXPECT_EQ(ParseCommandLine("sh\0-c\0a\nb\x1b[31m\0"sv, 512), "sh -c a?b?[31m");
  EXPECT_EQ(ParseCommandLine("python\0train.py\0"sv, 8), "python t");
  EXPECT_EQ(ParseCommandLine(""sv, 8), "");
}

TEST(ParseChildren, LeavesOutANumberCutOffByTheBuffer) {
  std::vector<pid_t> pids;
  ParseChildren("12 13 1", pids);
  EXPECT_EQ(pids, (std::vector<pid_t>{12, 13}));
}

}  // namespace
}  // namespace whystop

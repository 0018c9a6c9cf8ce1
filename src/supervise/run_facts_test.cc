#include "supervise/run_facts.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

using Environment = std::vector<std::string>;

TEST(JobEnvironment, ReplacesAndAddsWhatIsSet) {
  EXPECT_EQ(JobEnvironment({"A=1", "WHYSTOP_RING_DIR=old"}, {{"WHYSTOP_RING_DIR", "new"}}, ""),
            (Environment{"A=1", "WHYSTOP_RING_DIR=new"}));
}

TEST(JobEnvironment, PutsTheBootstrapInFrontOfThePythonPathOnce) {
  EXPECT_EQ(JobEnvironment({"A=1"}, {}, "/boot"), (Environment{"A=1", "PYTHONPATH=/boot"}));
  EXPECT_EQ(JobEnvironment({"PYTHONPATH=/mine"}, {}, "/boot"),
            (Environment{"PYTHONPATH=/boot:/mine"}));
  EXPECT_EQ(JobEnvironment({"PYTHONPATH="}, {}, "/boot"), (Environment{"PYTHONPATH=/boot"}));
  const Environment nested = {"PYTHONPATH=/boot:/mine"};
  EXPECT_EQ(JobEnvironment(nested, {}, "/boot"), nested);
}

TEST(RecordableEnvironment, KeepsOnlyWhatIsListed) {
  const auto kept =
      RecordableEnvironment({"SLURM_JOB_ID=7", "WANDB_API_KEY=secret", "SSH_CONNECTION=1.2.3.4 5",
                             "RANK=0", "MY_PASSWORD=x", "SLURM_JWT=token", "BROKEN"});
  EXPECT_EQ(kept, (std::map<std::string, std::string>{
                      {"RANK", "0"}, {"SLURM_JOB_ID", "7"}, {"SSH_CONNECTION", "yes"}}));
}

TEST(FillRunFacts, RedactsTheCommand) {
  RunStart start;
  FillRunFacts({"train", "--token", "abc"}, {}, start);
  EXPECT_EQ(start.command, (std::vector<std::string>{"train", "--token", "***"}));
  EXPECT_FALSE(start.directory.empty());
  EXPECT_GT(start.parent_pid, 0);
}

}  // namespace
}  // namespace whystop

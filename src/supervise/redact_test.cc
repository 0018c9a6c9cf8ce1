#include "supervise/redact.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

using Arguments = std::vector<std::string>;

TEST(RedactSecrets, HidesValuesOfOptionsThatNameASecret) {
  EXPECT_EQ(RedactSecrets(
                {"train", "--api-key=abc", "--hf_token=x", "WANDB_API_KEY=1", "--db-password=p"}),
            (Arguments{"train", "--api-key=***", "--hf_token=***", "WANDB_API_KEY=***",
                       "--db-password=***"}));
}

TEST(RedactSecrets, HidesTheArgumentAfterSuchAnOption) {
  EXPECT_EQ(RedactSecrets({"--password", "hunter2", "--lr", "0.1"}),
            (Arguments{"--password", "***", "--lr", "0.1"}));
  EXPECT_EQ(RedactSecrets({"--token", "--lr", "0.1"}), (Arguments{"--token", "--lr", "0.1"}));
}

TEST(RedactSecrets, LeavesTheVocabularyOfLanguageModelsAlone) {
  const Arguments harmless = {"--max-tokens=512",  "--tokenizer", "gpt2",
                              "--pad_token=<pad>", "--eos-token", "</s>"};
  EXPECT_EQ(RedactSecrets(harmless), harmless);
}

TEST(RedactSecrets, KnowsTokensByTheirForm) {
  EXPECT_EQ(RedactSecrets({"login", "hf_abcdefghijklmnopqrst", "--x=sk-0123456789abcdefg"}),
            (Arguments{"login", "***", "--x=***"}));
  EXPECT_EQ(RedactSecrets({"hf_transfer"}), (Arguments{"hf_transfer"}));
}

TEST(RedactSecrets, HidesThePasswordInAnAddress) {
  EXPECT_EQ(RedactSecrets({"https://me:pw@host:80/path"}),
            (Arguments{"https://me:***@host:80/path"}));
  EXPECT_EQ(RedactSecrets({"tcp://host:80/a@b"}), (Arguments{"tcp://host:80/a@b"}));
}

}  // namespace
}  // namespace whystop

#include "text/closing_words.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

TEST(ClosingWords, TheWorkIsOver) {
  for (const char* line :
       {"Training COMPLETE", "Training is Done", "OPTIMIZATION COMPLETE FOR net",
        "Optimization complete with best validation score of 5.6 %", "Finished all trials",
        "All done!", "===== The experiment has finished =====", "FINAL MODEL CREATED AND SAVED",
        "Saving final model to out/model.pt", "Hyperparameter search completed in 3 h",
        "All 10 epochs done. Goodbye."}) {
    EXPECT_EQ(ReadClosingWords(line), Closing::kEnd) << line;
  }
}

TEST(ClosingWords, WhatIsDeniedPlannedOrAPartIsNotTheEnd) {
  for (const char* line :
       {"Training is not done", "Training will be finished at noon", "Epoch 3 training complete",
        "Data loading done. Start training", "Fold 2 training finished", "Is training done?",
        "loading data ... done", "Saved model to a.pt", "Stop the run when training is complete",
        "Trial 12 Finished. Final validation accuracy: 0.95", "removing /scratch/centos-Final-64/job/loss/key", "Training", "validation loss 0.5", "checkpoint saved", "Run failed: job ended"}) {
    EXPECT_EQ(ReadClosingWords(line), Closing::kNone) << line;
  }
}

TEST(ClosingWords, ResultsAndLastWords) {
  EXPECT_EQ(ReadClosingWords("**** Final test accuracy: 96.9 ****"), Closing::kResult);
  EXPECT_EQ(ReadClosingWords("Total time: 3:04:11"), Closing::kResult);
  EXPECT_EQ(ReadClosingWords("Accuracy of the net on the test images: 97 %"), Closing::kTest);
  EXPECT_EQ(ReadClosingWords("Done."), Closing::kLastWord);
  EXPECT_EQ(ReadClosingWords("END predict.py"), Closing::kLastWord);
  EXPECT_EQ(ReadClosingWords("wandb: Synced 5 W&B file(s), 0 media file(s)"), Closing::kExit);
  EXPECT_EQ(ReadClosingWords("End of the road map to the model"), Closing::kNone);
}

}  // namespace
}  // namespace whystop

#include "text/series_role.h"

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

namespace whystop {
namespace {

using R = SeriesRole;
using Cases = std::vector<std::pair<std::string_view, SeriesRole>>;

void ExpectRoles(const Cases& cases) {
  for (const auto& [name, role] : cases) {
    EXPECT_EQ(static_cast<int>(RoleOfSeries(name)), static_cast<int>(role)) << name;
  }
}

TEST(SeriesRole, KnowsLossesInEverySpelling) {
  ExpectRoles({{"loss", R::kTrainLoss},
               {"training's l2", R::kTrainLoss},
               {"valid_0's l1", R::kValidationLoss},
               {"train/loss", R::kTrainLoss},
               {"Loss/train", R::kTrainLoss},
               {"train_loss_step", R::kTrainLoss},
               {"train_loss_epoch", R::kTrainLoss},
               {"trainLoss", R::kTrainLoss},
               {"Train Loss", R::kTrainLoss},
               {"trainloss", R::kTrainLoss},
               {"total_loss", R::kTrainLoss},
               {"epoch_loss", R::kTrainLoss},
               {"train/box_loss", R::kTrainLoss},
               {"loss_rpn_cls", R::kTrainLoss},
               {"lm-loss-training/lm loss", R::kTrainLoss},
               {"objective", R::kTrainLoss},
               {"neg elbo", R::kTrainLoss},
               {"-negative log likelihood", R::kTrainLoss},
               {"elbo", R::kTrainScore},
               {"lower bound", R::kTrainScore},
               {"log_likelihood", R::kTrainScore},
               {"AverageEpRet", R::kTrainScore},
               {"MaxEpRet", R::kOther},
               {"rollout/ep_rew_mean", R::kTrainScore},
               {"charts/episodic_return", R::kTrainScore},
               {"Average Score", R::kTrainScore},
               {"nll_loss", R::kTrainLoss},
               {"train/logloss", R::kTrainLoss},
               {"train_class_error", R::kTrainLoss},
               {"val_loss", R::kValidationLoss},
               {"eval_loss", R::kValidationLoss},
               {"eval/loss", R::kValidationLoss},
               {"test_loss", R::kValidationLoss},
               {"valLoss", R::kValidationLoss},
               {"Validation Loss", R::kValidationLoss},
               {"validation/epoch_loss", R::kValidationLoss},
               {"val/box_loss", R::kValidationLoss},
               {"lm-loss-validation/lm loss validation", R::kValidationLoss},
               {"evaluation_loss_vs_iterations", R::kValidationLoss},
               {"valid_loss", R::kValidationLoss},
               {"trl", R::kTrainLoss},
               {"tel", R::kValidationLoss}});
}

TEST(SeriesRole, KnowsTheRatesNormsAndScales) {
  ExpectRoles({{"lr", R::kLearningRate},
               {"learning_rate", R::kLearningRate},
               {"learning-rate/learning-rate", R::kLearningRate},
               {"lr-Adam/pg0", R::kLearningRate},
               {"lr/pg2", R::kLearningRate},
               {"train_lr", R::kLearningRate},
               {"LR", R::kLearningRate},
               {"grad_norm", R::kGradientNorm},
               {"train/grad_norm", R::kGradientNorm},
               {"grad-norm", R::kGradientNorm},
               {"gnorm", R::kGradientNorm},
               {"actor/grad_norm", R::kGradientNorm},
               {"loss_scale", R::kLossScale},
               {"loss-scale", R::kLossScale},
               {"scaler/scale", R::kLossScale}});
}

TEST(SeriesRole, KnowsScoresAndWhetherTheyAreHeldOut) {
  ExpectRoles({{"acc", R::kTrainScore},
               {"accuracy", R::kTrainScore},
               {"train_acc", R::kTrainScore},
               {"rollout/ep_rew_mean", R::kTrainScore},
               {"episode_reward", R::kTrainScore},
               {"val_acc", R::kValidationScore},
               {"valAcc", R::kValidationScore},
               {"eval_f1", R::kValidationScore},
               {"test/auc", R::kValidationScore},
               {"metrics/mAP50(B)", R::kValidationScore},
               {"metrics/precision(B)", R::kValidationScore},
               {"bbox_mAP", R::kValidationScore},
               {"bbox/AP50", R::kValidationScore},
               {"bleu", R::kValidationScore},
               {"rouge1", R::kValidationScore}});
}

TEST(SeriesRole, LeavesAloneWhatOnlySoundsAlike) {
  ExpectRoles({{"train_runtime", R::kOther},
               {"lm loss vs samples", R::kOther},
               {"lm-loss-validation/lm loss validation ppl", R::kOther},
               {"perplexity", R::kOther},
               {"best_val_loss", R::kOther},
               {"loss_weight", R::kOther},
               {"rewards/chosen", R::kOther},
               {"params-norm", R::kOther},
               {"epoch", R::kOther},
               {"grad_norm/encoder.0.weight", R::kOther},
               {"momentum", R::kOther},
               {"kl", R::kOther},
               {"loss_kld", R::kLossPart},
               {"commitment_loss", R::kLossPart},
               {"loss_total_vae", R::kTrainLoss},
               {"site-packages/trl/trainer/reward_trainer.py", R::kOther},
               {"lib/loss.py", R::kOther},
               {"", R::kOther}});
}

TEST(SeriesRole, CallsAdversarialAndPolicyLossesParts) {
  ExpectRoles({{"d_loss", R::kLossPart},
               {"loss_G/adv", R::kLossPart},
               {"train/policy_gradient_loss", R::kLossPart},
               {"train/value_loss", R::kLossPart},
               {"cross_entropy", R::kTrainLoss}});
}

TEST(SeriesRole, TellsTermsFromTotals) {
  for (const char* term :
       {"box_loss", "loss_rpn_cls", "train/dfl_loss", "val_dense_1_loss", "nll_loss"}) {
    EXPECT_TRUE(IsLossTerm(term)) << term;
  }
  for (const char* total : {"loss", "mini_val_loss", "train_loss_step", "total_loss", "lm loss",
                            "accuracy", "d_loss"}) {
    EXPECT_FALSE(IsLossTerm(total)) << total;
  }
}

TEST(SeriesRoles, ATermIsAPartOnceTheTotalIsKnown) {
  SeriesRoles roles;
  EXPECT_EQ(roles.Of("loss_bbox"), R::kTrainLoss);
  EXPECT_EQ(roles.Of("loss"), R::kTrainLoss);
  EXPECT_EQ(roles.Of("loss_bbox"), R::kLossPart);
  EXPECT_EQ(roles.Of("val_loss_bbox"), R::kValidationLoss);
  roles.Note("val_loss");
  EXPECT_EQ(roles.Of("val_loss_bbox"), R::kLossPart);
}

}  // namespace
}  // namespace whystop

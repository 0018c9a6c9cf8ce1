#include "text/metric_line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <sstream>
#include <string>

namespace whystop {
namespace {

/// A line's numbers as one text: "epoch 1/10 step 50/9752 | loss=4.2 lr=1e-07".
std::string Shown(std::string_view body) {
  MetricLine line;
  static_cast<void>(LexMetricLine(body, line));
  std::ostringstream out;
  if (line.epoch) {
    out << "epoch " << *line.epoch
        << (line.epochs ? "/" + std::to_string(static_cast<int>(*line.epochs)) : "") << " ";
  }
  if (line.step) {
    out << "step " << *line.step << (line.steps ? "/" + std::to_string(*line.steps) : "") << " ";
  }
  out << (line.validation ? "val " : "") << (line.in_progress ? "redraw " : "") << "|";
  for (const MetricValue& value : line.values) {
    out << " " << value.key << "=" << value.value;
  }
  return out.str();
}

struct Dialect {
  std::string_view line;
  std::string_view want;
};

TEST(MetricLine, ReadsWhatStandsInBrackets) {
  EXPECT_EQ(Shown("[3/40][120/782]\tLoss_D: 1.25 Loss_G: 2.5"),
            "epoch 3/40 step 120/782 | Loss_D=1.25 Loss_G=2.5");
  EXPECT_EQ(Shown("Epoch: 1/3, step 3/36 completed (loss: 0.5)"), "epoch 1/3 step 3/36 | loss=0.5");
  EXPECT_EQ(Shown("Epoch 2, batch 50, tot_loss[loss=0.25, over 90.00 frames. ]"),
            "epoch 2 step 50 | loss=0.25 over=90");
}

TEST(MetricLine, ReadsALossBehindAStepAndAWord) {
  EXPECT_EQ(Shown("250 train 6.123456"), "step 250 | train loss=6.12346");
  EXPECT_EQ(Shown("250 val 6.1234"), "step 250 val | val loss=6.1234");
  EXPECT_EQ(Shown("250 train 6.12"), "| train=6.12");
  EXPECT_EQ(Shown("250 hella 0.2501"), "| hella=0.2501");
}

/// As the guide of Keras and the code of knowledge graphs write it.
TEST(MetricLine, ANameBeforeTheCounterAndItsValueBehind) {
  EXPECT_EQ(Shown("Training loss (for one batch) at step 200: 1.25"),
            "step 200 | Training loss (for one batch)=1.25");
  EXPECT_EQ(Shown("Valid MRR at step 300: 0.5"), "step 300 val | Valid MRR=0.5");
  EXPECT_EQ(Shown("Loss after epoch 3 = 0.5"), "epoch 3 | Loss=0.5");
  EXPECT_EQ(Shown("Checkpoint at step 300"), "step 300 |");
  EXPECT_EQ(Shown("Time for epoch 3: 12:30:01"), "epoch 3 |");
  EXPECT_EQ(Shown("Loss at step 3/5: 0.5 lr: 0.1"), "step 3/5 | Loss=0.5 lr=0.1");
}

TEST(MetricLine, ReadsEveryDialect) {
  const Dialect dialects[] = {
      {"{'loss': 1.4358, 'grad_norm': 0.11, 'learning_rate': 6.5e-05, 'epoch': 0.52}",
       "epoch 0.52 | loss=1.4358 grad_norm=0.11 learning_rate=6.5e-05"},
      {"{'loss': '1.4358', 'learning_rate': '6.5e-05', 'epoch': '0.52'}",
       "epoch 0.52 | loss=1.4358 learning_rate=6.5e-05"},
      {"Epoch 3/40", "epoch 3/40 |"},
      {"[exp..][epoch:  7, iter:  12,300, lr:(2.000e-04,)] [eta: 1:02:03] l_pix: 1.5e-02",
       "epoch 7 step 12300 | lr=0.0002 l_pix=0.015"},
      {"100/100 [=====] - 1s 13ms/step - loss: 0.6931 - accuracy: 0.5109 - val_loss: 0.6934",
       "step 100/100 | loss=0.6931 accuracy=0.5109 val_loss=0.6934"},
      {" 76/100 [=====>...] - ETA: 0s - loss: 0.6931", "step 76/100 redraw | ETA=0 loss=0.6931"},
      {"128/128 - 5s - loss: 3.1500e+00 - 5s/epoch - 43ms/step", "step 128/128 | loss=3.15"},
      {"Epoch [1][50/9752]\tlr: 1.396e-07, eta: 1 day, 0:09:32, time: 0.744, memory: 17246, loss: "
       "4.2",
       "epoch 1 step 50/9752 | lr=1.396e-07 eta=1 time=0.744 memory=17246 loss=4.2"},
      {"Epoch(val) [12][977]\tbbox_mAP: 0.5040", "epoch 12 val | bbox_mAP=0.504"},
      {"Epoch(train)  [1][  50/9752]  lr: 1e-5  loss: 0.2",
       "epoch 1 step 50/9752 | lr=1e-05 loss=0.2"},
      {"eta: 0:10:00  iter: 19  total_loss: 2.5  loss_cls: 1.25  lr: 1e-05  max_mem: 8000M",
       "step 19 | total_loss=2.5 loss_cls=1.25 lr=1e-05 max_mem=8000"},
      {"epoch 001:    150 / 102400000 loss=6.469, wps=10, num_updates=150, lr=0.00024, "
       "gnorm=3.169, loss_scale=8",
       "epoch 1 step 150/102400000 | loss=6.469 wps=10 lr=0.00024 gnorm=3.169 loss_scale=8"},
      {"Train Epoch: 0 [  823296/10977280 (8%)] Data (t): 0.295 Batch (t): 0.657, 6206.32/s, "
       "387.895/s/gpu LR: 0.000010 "
       "Logit Scale: 14.287 Loss: 7.9482 (8.1817)",
       "epoch 0 step 823296/10977280 | Data (t)=0.295 Batch (t)=0.657 LR=1e-05 Logit Scale=14.287 "
       "Loss=7.9482"},
      {"| epoch   1 |   200/ 2983 batches | lr 20.00 | ms/batch 11.6 | loss   nan | ppl      nan",
       "epoch 1 step 200/2983 | lr=20 loss=nan ppl=nan"},
      {"s:10 trl:3.25 lr:0.001 norm:0.5", "step 10 | trl=3.25 lr=0.001 norm=0.5"},
      {"step:5/100 val_loss:10.5 train_time:12ms", "step 5/100 | val_loss=10.5 train_time=12"},
      {"iter 100: loss 3.25, time 90ms", "step 100 | loss=3.25 time=90"},
      {"step:3 - actor/loss:0.25 - actor/grad_norm:1.5 - critic/score/mean:0.5",
       "step 3 | actor/loss=0.25 actor/grad_norm=1.5 critic/score/mean=0.5"},
      {" iteration      100/  500000 | consumed samples:  6400 | learning rate: 4.9E-06 | lm loss: "
       "9.0E+00 | loss scale: "
       "131072.0 | grad norm: 1.5 | number of skipped iterations:   0 |",
       "step 100/500000 | consumed samples=6400 learning rate=4.9e-06 lm loss=9 loss scale=131072 "
       "grad norm=1.5 number of skipped iterations=0"},
      {"Epoch [442/500], Train Loss: 0.0025, Validation Loss: 0.0047",
       "epoch 442/500 | Train Loss=0.0025 Validation Loss=0.0047"},
      {"Epoch 3/10 | Loss: 0.5 | Val Acc: 0.75", "epoch 3/10 | Loss=0.5 Val Acc=0.75"},
      {"[Epoch 72] LR: 7.1e-04 | Train loss: 163.9, MSE: 163.5 | Val loss: 162.6",
       "epoch 72 | LR=0.00071 Train loss=163.9 MSE=163.5 Val loss=162.6"},
      {"Epoch 9 Train loss: 0.00096 (34.3 %), Val loss: 0.00021 - 719.0 secs",
       "epoch 9 | Train loss=0.00096 Val loss=0.00021"},
      {"Finish training epoch 0. loss: 0.0544", "epoch 0 | loss=0.0544"},
      {"Epoch 1 Validation batch 376/385 | loss: 0.00044 (42.3 %) - 4428.5 secs",
       "epoch 1 step 376/385 val | loss=0.00044"},
      {"loss = 0.5, step = 100 (3.2 sec)", "step 100 | loss=0.5"},
      {"epoch=3 loss=tensor(0.4300, device='cuda:0', grad_fn=<NllLossBackward0>) acc=0.5",
       "epoch 3 | loss=0.43 acc=0.5"},
      {"Epoch: 3, loss: -inf", "epoch 3 | loss=-inf"},
      {"Epoch: [352/520] Iter:[10/495], Time: 0.66, lr: [0.018], Loss: 1.5, Acc:0.75, IC loss: 0.5",
       "epoch 352/520 step 10/495 | Time=0.66 lr=0.018 Loss=1.5 Acc=0.75 IC loss=0.5"},
      {"Training (epoch 3 / 20)", "epoch 3/20 |"},
      {"iter 20 || Loss: 7.9610 || a.py:238: UserWarning: x", "step 20 | Loss=7.961"},
      {"epoch: 0, batch_id: 500, AUC:0.75, ACC:0.5, loss:0.25, ips: 10 ins/s",
       "epoch 0 step 500 | AUC=0.75 ACC=0.5 loss=0.25 ips=10"},
      {"step 100: train loss 3.5, val loss 3.25", "step 100 | train loss=3.5 val loss=3.25"},
      {"loss: -90084920.0000", "| loss=-9.00849e+07"},
      {"sweep 52 of 2000 acc 0.5", "epoch 52/2000 | acc=0.5"},
      {"Pass 3/20: mse=0.25", "epoch 3/20 | mse=0.25"},
  };
  for (const Dialect& dialect : dialects) {
    EXPECT_EQ(Shown(dialect.line), dialect.want) << dialect.line;
  }
}

TEST(MetricLine, LeavesOtherNumbersAlone) {
  for (const std::string_view line :
       {"Python-3.10.15 torch-2.5.1", "2024-10-18 took 12:30:11 on 10.0.0.1",
        "at 0x7f1a6a663910 in libfoo.so.12", "/usr/lib/python3.10/trainer.py:105: UserWarning",
        ""}) {
    EXPECT_EQ(Shown(line), "|") << line;
  }
}

}  // namespace
}  // namespace whystop

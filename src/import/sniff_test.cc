#include "import/sniff.h"

#include <gtest/gtest.h>

#include <string>

#include "base/tfrecord.h"

namespace whystop {
namespace {

TEST(Sniff, TellsFormatsByTheirContent) {
  std::string events;
  AppendTfRecord(events, "x");
  EXPECT_EQ(SniffBytes(events), FileKind::kTensorBoard);
  EXPECT_EQ(SniffBytes(std::string(":W&B\xe1\xbe\0", 7)), FileKind::kWandb);
  EXPECT_EQ(SniffBytes("{\n  \"epoch\": 1,\n  \"global_step\": 5,\n  \"log_history\": [\n"),
            FileKind::kTrainerState);
  EXPECT_EQ(SniffBytes("epoch,loss\n0,1.5\n"), FileKind::kTable);
  EXPECT_EQ(SniffBytes("epoch,loss\r0,1.5\r1,1.4\r"), FileKind::kTable);
  EXPECT_EQ(SniffBytes("epoch,loss\r\r0,1.5\r\r1,1.4\r\r"), FileKind::kTable);
  EXPECT_EQ(SniffBytes("   epoch,   loss\n   0,  1.5\n"), FileKind::kTable);
  EXPECT_EQ(SniffBytes("{\"step\": 1, \"loss\": 2}\n{\"step\": 2, \"loss\": 1}\n"),
            FileKind::kJsonLines);
  EXPECT_EQ(SniffBytes("{\"step\": 1, \"loss\": 2}"), FileKind::kJsonLines);
  EXPECT_EQ(SniffBytes("{\"loss\": [2, 1], \"val_loss\": [3, 2]}"), FileKind::kJsonHistory);
  EXPECT_EQ(SniffBytes("[{\"epoch\": 1, \"loss\": 2},\n {\"epoch\": 2, \"loss\": 1}]"),
            FileKind::kJsonHistory);
  EXPECT_EQ(SniffBytes(""), FileKind::kEmpty);
}

TEST(Sniff, ALogStaysALog) {
  EXPECT_EQ(SniffBytes("Epoch 1/10, loss 0.3\nEpoch 2/10, loss 0.2\n"), FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("{'loss': 1.4, 'epoch': 0.5}\n{'loss': 1.3, 'epoch': 1.0}\n"),
            FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("{\"lr\": 0.1, \"batch\": 32}\nStarting training\nEpoch 1: loss 0.3\n"),
            FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("[2024-10-18 16:53:10] INFO start\n[2024-10-18 16:53:11] INFO loss 1\n"),
            FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("[INFO] start\n"), FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("[0]\ttrain-rmse:0.5\teval-rmse:0.6\n[1]\ttrain-rmse:0.4\teval-rmse:0.5\n"),
            FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("[1,0]<stdout>:Epoch 1/20 - loss: 2.28\n"), FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("[ 1201.113456] python3 invoked oom-killer: gfp_mask=0x1\n"),
            FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("epoch,loss\n"), FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("Resizing\n416\nLoaded: 0.00003 seconds\n"), FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("inputs (640, 3)\n640, 3\nlabels (640, 1)\n"), FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("batch_norm:\t0\nn_hidden:\t128\nlr:\t0.001\n"), FileKind::kTextLog);
  EXPECT_EQ(SniffBytes("loss\n0.5\n0.4\n"), FileKind::kTable);
}

TEST(Sniff, KnowsPackedFiles) {
  EXPECT_EQ(CompressionOf("\x1f\x8b\x08 and more"), "gzip");
  EXPECT_EQ(CompressionOf("PK\x03\x04"), "zip");
  EXPECT_EQ(CompressionOf("Epoch 1"), "");
}

TEST(Sniff, BinaryIsOther) {
  std::string bytes;
  for (int i = 0; i < 1000; ++i) {
    bytes.push_back(static_cast<char>(i * 37));
  }
  EXPECT_EQ(SniffBytes(bytes), FileKind::kOther);
  EXPECT_EQ(SniffBytes("{\"model_type\": \"bert\", \"architectures\": [\"A\"],\n \"hidden\": 768}"),
            FileKind::kOther);
}

}  // namespace
}  // namespace whystop

#include "text/shape_cache.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>

#include "text/event_text.h"
#include "text/shape_signatures.h"

namespace whystop {
namespace {

std::string ShapeOfText(std::string_view line) {
  std::string shape(line.size() + kShapeSlackBytes, ' ');
  MakeShape(line, shape.data());
  shape.resize(line.size());
  return shape;
}

TEST(LineShape, TurnsEveryDigitAndNothingElse) {
  EXPECT_EQ(ShapeOfText("loss: 1.25e-07, step 9/10 of :;/@"), "loss: 0.00e-00, step 0/00 of :;/@");
  EXPECT_EQ(ShapeOfText("7"), "0");
  EXPECT_EQ(ShapeOfText("sixteen bytes: 9"), "sixteen bytes: 0");
}

TEST(LineShape, RefusesNumbersWhoseSizeDecides) {
  EXPECT_TRUE(IsTameShape("lr 0.000000000000000e-00 step 000000"));
  EXPECT_FALSE(IsTameShape("loss 0e000"));
  EXPECT_FALSE(IsTameShape("id 0000000000000000"));
  EXPECT_FALSE(IsTameShape("0,000,000,000,000"));
}

TEST(ShapeSignatures, SeeASignatureWhateverItsDigitsAre) {
  for (const Signature& row : AllSignatures()) {
    if (!row.example.empty()) {
      EXPECT_TRUE(ShapeMayHoldSignature(ShapeOfText(PeelPrefix(row.example).body))) << row.example;
    }
  }
  EXPECT_FALSE(ShapeMayHoldSignature(ShapeOfText("loaded shard 12 with 34 samples")));
}

void ExpectSameEvents(const std::string& text, const std::string& what) {
  const auto plain = ReadEventLines(text, 1 << 16, false);
  const auto learned = ReadEventLines(text, 1 << 16, true);
  ASSERT_EQ(learned.size(), plain.size()) << what;
  for (std::size_t at = 0; at < plain.size(); ++at) {
    ASSERT_EQ(learned[at], plain[at]) << what << ", event " << at;
  }
}

/// The text with its digits turned: the same shapes, other numbers.
std::string Turned(std::string text, std::uint32_t seed) {
  std::mt19937 random(seed);
  for (char& letter : text) {
    letter = letter >= '0' && letter <= '9' ? static_cast<char>('0' + random() % 10) : letter;
  }
  return text;
}

/// Goal: remembering shapes changes speed and nothing else.
/// Method: every dialect that we know, three times over with other digits, read with and without
/// it.
TEST(ShapeCache, ChangesNoEventOfAnyDialect) {
  const std::string dialects =
      "{'loss': 1.2345, 'grad_norm': 0.123456789012345, 'learning_rate': 1.5e-05, 'epoch': 0.12}\n"
      "2024-10-18 16:53:10,903 - mmdet - INFO - Epoch [1][50/9752]\tlr: 1.978e-05, eta: 1 day, "
      "time: 1.238, memory: 17246, loss: 1.2345\n"
      "\r 12%|####5     | 12/100 [00:12<00:34, 1.23it/s, loss=0.5, v_num=0]"
      "\rEpoch 3:  45%|####5     | 45/100 [00:12<00:34, 1.23it/s]\n"
      "Epoch [3/500], Train Loss: 0.1234, Validation Loss: 0.2345\n"
      "[rank3]: step 120: train loss 2.31, val loss 2.40\n"
      "12/100 [===>....] - ETA: 12s - loss: 0.5000 - accuracy: 0.9876\n"
      "100/100 [======] - 12s 1ms/step - loss: 0.5000 - accuracy: 0.9876\n"
      "iteration 100: the data loader is waiting for worker 3 of 8\n"
      "      Epoch    GPU_mem   box_loss   cls_loss   dfl_loss  Instances       Size\n"
      "      1/150        21G      1.385      1.094     0.8692         88       1024: 100%|####| "
      "9/9 [00:12<00:00, 1.2it/s]\n"
      "                   all        453        907      0.792      0.805      0.841      0.382\n"
      "num_train_epochs=12, max_steps = 100\nloss nan\nlayer3.loss: 0.25 top5: 1e-3\n"
      "RuntimeError: CUDA error: 710\nexit code 137\nstep 12,000 loss 3.0\nepoch -1 step "
      "1234567890123 loss 4\nEp 51e6 loss 2.5\n[3/40][120/782]\tLoss_D: 1.25\n"
      " 12: 5.25, 70.5 avg loss, 0.0013 rate, 3.26 seconds, 640 images\n"
      "loss: 0.75:  30%|#  | 30/100 [00:01<00:09, 10.0it/s]\n";
  std::string text;
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    text += Turned(dialects, seed);
  }
  ExpectSameEvents(text, "dialects");
}

TEST(ShapeCache, ChangesNoEventOfTheCorpus) {
  const auto logs = std::filesystem::path(WHYSTOP_SOURCE_DIR) / ".." / "shared" / "corpus" / "logs";
  if (!std::filesystem::exists(logs)) {
    GTEST_SKIP() << "no corpus at " << logs;
  }
  for (const auto& entry : std::filesystem::directory_iterator(logs)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::ostringstream contents;
    contents << file.rdbuf();
    const std::string text = contents.str().substr(0, 400'000);
    ExpectSameEvents(text, entry.path());
    ExpectSameEvents(text + Turned(text, 1), entry.path().string() + ", again with other digits");
  }
}

}  // namespace
}  // namespace whystop

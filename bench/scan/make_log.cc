#include "make_log.h"

#include <cstdio>
#include <random>

namespace whystop::bench {
namespace {

/// One file, as `nohup` and array jobs leave it: run after run appended, each with its own way to
/// print its metrics, and between them the lines that every job has: loaders, checkpoints,
/// launchers, a warning now and then.
class Writer {
 public:
  Writer(std::FILE* file, std::uint32_t seed) : file_(file), random_(seed) {}

  std::int64_t WriteSome() {
    if (++step_ > kStepsOfARun) {
      step_ = 1;
      ++run_;
      return Print("==== job %d of the array starts on node%02d, 8 x A100\n", run_, run_ % 64);
    }
    return random_() % 2 == 0 ? WriteMetrics() : WriteOther();
  }

 private:
  static constexpr int kStepsOfARun = 400'000;

  std::int64_t WriteMetrics() {
    const double loss = 3.0 / (1.0 + step_ * 1e-4) + Noise() * 0.1;
    switch (run_ % 5) {
      case 0:
        return Print("{'loss': %.4f, 'grad_norm': %.15f, 'learning_rate': %.17g, 'epoch': %.2f}\n",
                     loss, 1 + Noise(), 5e-5 * (1 - step_ * 2e-6), step_ / 1000.0);
      case 1:
        return Print(
            "2024-10-18 %02d:%02d:%02d,903 - mmdet - INFO - Epoch [%d][%d/9752]\tlr: %.3e, eta: 1 "
            "day, 0:09:32, "
            "time: %.3f, data_time: 0.047, memory: 17246, loss_cls: %.4f, loss: %.4f\n",
            step_ / 3600 % 24, step_ / 60 % 60, step_ % 60, step_ / 9752 + 1, step_ % 9752 + 1,
            1e-5 * Noise(), Noise(), loss / 2, loss);
      case 2:
        return Print("\r %2d%%|####5     | %d/400000 [%02d:%02d<12:34, %.2fit/s, loss=%.3f]",
                     step_ / 4000, step_, step_ / 60 % 60, step_ % 60, 3 + Noise(), loss);
      case 3:
        return Print("Epoch [%d/500], Train Loss: %.4f, Validation Loss: %.4f\n", step_ / 1000 + 1,
                     loss, loss + 0.1);
      default:
        return Print("step:%d - actor/loss:%.6f - actor/grad_norm:%.6f - critic/score/mean:%.6f\n",
                     step_, loss, Noise(), Noise());
    }
  }

  std::int64_t WriteOther() {
    switch (random_() % 4) {
      case 0:
        return Print(
            "[2025-06-24 21:06:22,662] [INFO] [loader.py:347:next] loaded shard %d with %d samples "
            "from "
            "/data/train/shard-%05d.tar\n",
            step_ % 999, step_ % 9999, step_ % 999);
      case 1:
        return Print(
            "INFO:data.queue:waiting for worker %d of 8, queue holds %d batches, prefetch is %d "
            "deep\n",
            step_ % 8, step_ % 4, step_ % 16);
      case 2:
        return Print(
            "I0624 21:06:22.662000 %d torch/_dynamo/utils.py:399] compiled frame %d after %d "
            "guards\n",
            70000 + run_, step_ % 300, step_ % 90);
      default:
        return step_ % 5000 == 7
                   ? Print(
                         "UserWarning: Detected call of `lr_scheduler.step()` before "
                         "`optimizer.step()` (%d).\n",
                         step_ % 9)
                   : Print("INFO:root:checkpoint saved to /data/run/ckpt-%d.pt in %.2f s\n", step_,
                           Noise());
    }
  }

  double Noise() { return static_cast<double>(random_() % 10000) * 1e-4; }
  template <typename... Values>
  std::int64_t Print(const char* format, Values... values) {
    return std::fprintf(file_, format, values...);
  }

  std::FILE* file_;
  std::mt19937 random_;
  int step_ = 0;
  int run_ = 0;
};

}  // namespace

bool MakeLog(const std::string& path, std::int64_t bytes, std::uint32_t seed) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) {
    return false;
  }
  Writer writer(file, seed);
  std::int64_t written = 0;
  while (written < bytes) {
    const std::int64_t got = writer.WriteSome();
    if (got < 0) {
      break;
    }
    written += got;
  }
  return std::fclose(file) == 0 && written >= bytes;
}

}  // namespace whystop::bench

#include "make_log.h"

#include <cstdio>
#include <random>

namespace whystop::bench {
namespace {

class Writer {
 public:
  Writer(std::FILE* file, std::uint32_t seed) : file_(file), random_(seed) {}

  std::int64_t WriteSome() {
    ++step_;
    const double loss = 3.0 / (1.0 + static_cast<double>(step_) * 1e-4) + Noise() * 0.1;
    switch (random_() % 8) {
      case 0:
        return Print("{'loss': %.4f, 'grad_norm': %.15f, 'learning_rate': %.17g, 'epoch': %.2f}\n",
                     loss, 1 + Noise(), 5e-5 * Noise(), static_cast<double>(step_) / 1000);
      case 1:
        return Print(
            "2024-10-18 %02d:%02d:%02d,903 - mmdet - INFO - Epoch [%d][%d/9752]\tlr: %.3e, eta: 1 "
            "day, 0:09:32, "
            "time: %.3f, data_time: 0.047, memory: 17246, loss_cls: %.4f, loss: %.4f\n",
            step_ / 3600 % 24, step_ / 60 % 60, step_ % 60, step_ / 9752 + 1, step_ % 9752,
            1e-5 * Noise(), Noise(), loss / 2, loss);
      case 2:
        return Print("\r %2d%%|####5     | %d/100000 [%02d:%02d<12:34, %.2fit/s]", step_ % 100,
                     step_ % 100000, step_ / 60 % 60, step_ % 60, 3 + Noise());
      case 3:
        return Print("Epoch [%d/500], Train Loss: %.4f, Validation Loss: %.4f\n", step_ / 1000 + 1,
                     loss, loss + 0.1);
      case 4:
        return Print(
            "[2025-06-24 21:06:22,662] [INFO] [loader.py:347:next] loaded shard %d with %d samples "
            "from "
            "/data/train/shard-%05d.tar\n",
            step_ % 999, step_ % 9999, step_ % 999);
      case 5:
        return Print(
            "iteration %d: the data loader is waiting for worker %d of 8, queue holds %d batches\n",
            step_, step_ % 8, step_ % 4);
      case 6:
        return Print("step:%d - actor/loss:%.6f - actor/grad_norm:%.6f - critic/score/mean:%.6f\n",
                     step_, loss, Noise(), Noise());
      default:
        return step_ % 5000 == 7
                   ? Print(
                         "UserWarning: Detected call of `lr_scheduler.step()` before "
                         "`optimizer.step()`.\n")
                   : Print("INFO:root:checkpoint saved to /data/run/ckpt-%d.pt in %.2f s\n", step_,
                           Noise());
    }
  }

 private:
  double Noise() { return static_cast<double>(random_() % 10000) * 1e-4; }
  template <typename... Values>
  std::int64_t Print(const char* format, Values... values) {
    if constexpr (sizeof...(values) == 0) {
      return std::fputs(format, file_) < 0 ? -1 : 80;
    } else {
      return std::fprintf(file_, format, values...);
    }
  }

  std::FILE* file_;
  std::mt19937 random_;
  int step_ = 0;
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

#include "text/session_watch.h"

#include <array>

#include "base/parse.h"

namespace whystop {
namespace {

constexpr std::size_t kFirstLines = 12;

struct Opening {
  std::string_view text;
  const char* reason;
};
/// What launchers, schedulers and frameworks print once, when a run starts.
constexpr std::array<Opening, 12> kOpenings = {{
    {"nohup: ignoring input", "nohup"},
    {"| NVIDIA-SMI ", "nvidia-smi banner"},
    {"Environment info:", "environment dump"},
    {"***** Running training *****", "Trainer start"},
    {"Rank of current process: 0. World size:", "detectron2 start"},
    {"WORLD INFO DICT: {", "DeepSpeed launcher start"},
    {"Starting training for ", "training start"},
    {"wandb: Tracking run with wandb version", "W&B start"},
    {"Setting OMP_NUM_THREADS environment variable for each process to be 1", "torchrun start"},
    {"Command line arguments: Namespace(", "argument dump"},
    {"Loaded cfg from", "configuration dump"},
    {"Current SLURM job", "Slurm job start"},
}};

std::uint64_t Shape(std::string_view text) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const char letter : text.substr(0, 160)) {
    if (letter < '0' || letter > '9') {
      hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3ULL;
    }
  }
  return hash;
}

/// Lines that come again in the middle of a run.
bool IsNoMark(std::string_view text) {
  for (const std::string_view word : {"most recent call last", "loss", "Loss", "poch", "step", "it/s"}) {
    if (text.find(word) != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool SessionWatch::IsFirstLineAgain(const PeeledLine& line) {
  const std::string_view text = Trim(line.body);
  if (text.size() < 16 || line.body[0] == ' ' || IsNoMark(text)) {
    return false;
  }
  const std::uint64_t shape = Shape(text);
  const auto known = first_lines_.find(shape);
  if (!failed_ && !completed_) {
    if (known != first_lines_.end()) {
      known->second.usable = known->second.usable && known->second.session != session_;
      known->second.session = session_;
    } else if (first_lines_.size() < kFirstLines) {
      first_lines_.emplace(shape, Mark{.session = session_, .usable = true});
    }
    return false;
  }
  if (known == first_lines_.end() || !known->second.usable) {
    return false;
  }
  // After success a framework may repeat a banner for its last validation; three of them are a new run.
  return failed_ || ++again_ >= 3;
}

const char* SessionWatch::Push(const PeeledLine& line) {
  const std::string_view body = line.body;
  if (report_above_ && !Trim(body).empty() && !body.starts_with("```")) {
    report_above_ = false;
    return "after an LSF job report";
  }
  if (body.starts_with("The output (if any) is above this job summary")) {
    report_above_ = true;
    return nullptr;
  }
  if (body.starts_with("The output (if any) follows")) {
    report_first_ = true;
    return nullptr;
  }
  if (body.starts_with("Sender: LSF System")) {
    return report_first_ ? "LSF job report" : nullptr;
  }
  if (trained_ || failed_ || completed_) {
    for (const Opening& opening : kOpenings) {
      if (body.find(opening.text) != std::string_view::npos) {
        return opening.reason;
      }
    }
  }
  return IsFirstLineAgain(line) ? "the first lines of the run again" : nullptr;
}

void SessionWatch::Reset() {
  failed_ = false;
  completed_ = false;
  again_ = 0;
  trained_ = false;
  ++session_;
}

}  // namespace whystop

#include "cause/evidence.h"
#include "cause/weighers.h"

namespace whystop {

void WeighHostReboot(const CaseFile& run, Hypothesis& out) {
  if (!run.text_end || run.text_end->kind != TextEnd::Kind::kNulTail) {
    return;
  }
  Evidence tail =
      Supports("log-line",
               "the file ends in NUL bytes: room that the file system had given out and whose "
               "contents never reached the disk");
  tail.place = run.text_end->place;
  out.Add(std::move(tail));
  const Progress& progress = run.progress;
  const bool unfinished =
      (progress.step && progress.steps_planned && *progress.step < *progress.steps_planned) ||
      (progress.epoch && progress.epochs_planned && *progress.epoch < *progress.epochs_planned);
  if (unfinished) {
    out.Add(Supports("log-line", "the run was in the middle of its plan"));
  }
}

}  // namespace whystop

#include "sign/training.h"

#include "sign/answers.h"
#include "sign/guessing.h"
#include "sign/learning.h"
#include "sign/learning_failed.h"
#include "sign/model_input.h"
#include "sign/nan.h"
#include "sign/near_guessing.h"
#include "sign/observed.h"

namespace whystop {

Training::Training(const CaseFile& the_run)
    : run(the_run),
      learning(LearningOf(run)),
      lost(LossLost(run)),
      failed(LearningFailed(run)),
      not_seen_to_learn(NotSeenToLearn(run)),
      points(BasisNumber("points")),
      share(ShareOfGuessing(run)),
      classifies(LossOfGuessing(run).has_value()),
      model(run.FindObservation("model")),
      input(ModelInput(run)),
      calls(ObservationsOf(run, "loss-call")) {
  if (learning.basis != nullptr) {
    guess = LevelOfGuessing(run, *learning.basis);
  }
  const auto all = ObservationsOf(run, "optimizer");
  optimizers = static_cast<double>(all.size());
  optimizer = all.empty() ? nullptr : all.front();
}

bool Training::OneAnswer() const { return !calls.empty() && GivesOneAnswer(*calls.back(), kOneAnswer); }

}  // namespace whystop

#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/case_file.h"
#include "sign/learning.h"

namespace whystop {

// What causes of the learning side ask of a case again and again.

/// The training loss (or a term of it) is NaN or infinite up to the end; nullptr: it is not. Of
/// several series of one loss the one with the most points tells: a running mean stays NaN where
/// the loss itself came back.
const Finding* LossLost(const CaseFile& run);
/// Some training loss is, be it a running mean: what the program saw.
bool SomeLossLost(const CaseFile& run);

/// NaN was seen anywhere in training: in the loss to its end, by the probe, or by the loop's own
/// test.
bool NanSeen(const CaseFile& run);
/// The first report of a NaN in the loss that left the weights whole, though a step was taken. What
/// makes a value NaN makes its gradients NaN, and the weights by that step; the mean over no target
/// alone has gradients of 0.
const Observation* NanThatHurtNothing(const CaseFile& run);
/// The very first loss was NaN, of weights and inputs of ordinary size: sums and products cannot
/// do that, a logarithm, a root or a division can.
bool NanFromTheFirst(const CaseFile& run);
/// A softmax or an attention that may have a mask; the log-softmax of a loss has none.
bool MayBeMasked(const std::string& operation);
/// What the model was given was not finite, though every batch was as its loader gave it: a
/// computation between the two made it so.
bool SpoiltOnTheWay(const CaseFile& run);

/// The model learned nothing, stopped early, came apart or ended in NaN: without one of these, odd
/// figures blame nobody.
bool LearningFailed(const CaseFile& run);

/// Long enough to see (20 points), and not seen to learn: failed, or lost in its own noise. For
/// causes whose evidence does not need the loss.
bool NotSeenToLearn(const CaseFile& run);

/// What a classifier's loss is when it knows how often each class comes and nothing else: the
/// entropy of the labels, or ln k; nullopt: not a classifier by cross-entropy.
std::optional<double> LossOfGuessing(const CaseFile& run);
/// "loss stays at 2.3, the level of guessing (10 classes)": it never left that level, or came to
/// rest within a tenth of it, wherever it began; "": neither.
std::string DescribeGuessing(const CaseFile& run);

/// The machinery of learning works as far as the probe saw it: steps are made, every weight moves,
/// gradients and updates are of ordinary size and the outputs differ. What then keeps the loss at
/// the level of guessing is the data.
bool LearnsSoundly(const CaseFile& run);

/// What guessing costs: among classes, or the mean of the targets in a regression.
std::optional<double> LevelOfGuessing(const CaseFile& run, const Finding& loss);
/// Where the loss ends, as a share of what a model has that knows nothing of its inputs: a
/// classifier that guesses, a regression that gives the mean of its targets. 0: not known.
double ShareOfGuessing(const CaseFile& run);
/// A classifier that had time to learn, and whose loss is still more than 0.7 of that of guessing.
bool StillNearGuessing(const CaseFile& run);
/// Root mean square about zero of the outputs that a loss function was called with.
double OutputSize(const Observation& loss_call);
/// Outputs that differ from sample to sample by less than this share of their size are one answer.
constexpr double kOneAnswer = 1e-3;
/// The outputs of this call differ from sample to sample by less than this share of their size.
bool GivesOneAnswer(const Observation& loss_call, double share);
/// The outputs were the same for every sample before anything was trained: the model does not look
/// at its input.
bool ConstantFromTheStart(const CaseFile& run);

/// backward() ran, but not one tensor of the optimizer has a gradient.
bool NoGradientsInOptimizer(const CaseFile& run);
/// The gradients were there, and were thrown away before the optimizer could use them.
bool ZeroedBeforeStep(const CaseFile& run);
/// What is trainable and in no optimizer, by the comparison that was made last; nullptr: nothing is left out.
const Observation* LeftInNoOptimizer(const CaseFile& run);
/// Trainable parameters exist that the optimizer does not hold, or it holds tensors of no living
/// module.
bool OptimizerHoldsOthers(const CaseFile& run);

/// The weights are float16, which ends at 65504 and at 6e-8; bfloat16 has the range of float32.
bool UsesHalf(const CaseFile& run);
/// What the loss got is of 16 bits: under autocast the weights are not.
bool OutputsAreHalf(const CaseFile& run);

/// A total of the probe's last "counts".
std::optional<double> Counted(const CaseFile& run, const std::string& what);

/// All observations of a kind, in order.
std::vector<const Observation*> ObservationsOf(const CaseFile& run, std::string_view kind);
enum class Calls { kInTraining, kAll };
/// Calls of these loss functions, in order; in training only those where gradients are recorded.
std::vector<const Observation*> LossCalls(const CaseFile& run,
                                          std::initializer_list<std::string_view> functions,
                                          Calls which = Calls::kInTraining);
/// Those of losses that compare numbers with numbers.
std::vector<const Observation*> RegressionCalls(const CaseFile& run);

/// The text of an attribute, or "".
std::string TextOf(const Observation& seen, const std::string& name);
/// The number of an attribute, or 0.
double NumberOf(const Observation& seen, const std::string& name);
std::string FactText(const Finding& finding, const std::string& name);

/// The optimizer's learning rate as first seen, or what its schedule starts from if that is
/// higher, or the highest of its series.
std::optional<double> LearningRate(const CaseFile& run);
/// The learning rate was next to nothing long before the end, and the run shows it.
const Finding* RateSpentEarly(const CaseFile& run);
/// The share of every weight that weight decay takes off in a step, momentum included; 0 where
/// none is known.
double ShrinkPerStep(const CaseFile& run);
/// Adam and its kin divide by the gradient's size: how large a gradient is does not change their
/// steps.
bool IsAdaptive(const CaseFile& run);
/// "Adam", "SGD"; "" when not known.
std::string OptimizerName(const CaseFile& run);

/// A value times a factor, rounded down to 1, 2 or 5 times a power of ten: what a person would try
/// next.
double RoundFactor(double value, double factor);
/// "12 %", "0.3 %".
std::string Percent(double share);
/// Case-blind search for any of the words.
bool MentionsAny(std::string_view text, std::initializer_list<std::string_view> words);

/// The inputs of the model as first seen: what its first module got, else the first floating-point
/// tensor of a batch.
const Observation* ModelInput(const CaseFile& run);
/// Root mean square of an observed tensor about zero.
double SizeOf(const Observation& tensor);
/// The targets of a regression loss as first seen: their size; nullopt: no such call.
std::optional<double> RegressionTargetSize(const CaseFile& run);

}  // namespace whystop

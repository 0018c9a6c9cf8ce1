#pragma once

#include <string>

#include "model/case_file.h"

namespace whystop {

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

}  // namespace whystop

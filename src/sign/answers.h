#pragma once

#include <optional>

#include "model/case_file.h"

namespace whystop {

/// Root mean square about zero of the outputs that a loss function was called with.
double OutputSize(const Observation& loss_call);
/// Outputs that differ from sample to sample by less than this share of their size are one answer.
constexpr double kOneAnswer = 1e-3;
/// By how much the outputs of this call differ from sample to sample; nullopt: not seen.
std::optional<double> SpreadOfAnswers(const Observation& loss_call);
/// The outputs of this call differ from sample to sample by less than this share of their size.
bool GivesOneAnswer(const Observation& loss_call, double share);
/// The same of numbers that are compared with numbers: beside what the targets differ by, the outputs do not differ.
bool GivesOneAnswerBesideTargets(const Observation& loss_call, double share);
/// The outputs were the same for every sample before anything was trained: the model does not look
/// at its input.
bool ConstantFromTheStart(const CaseFile& run);

}  // namespace whystop

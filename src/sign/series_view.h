#pragma once

#include <string>
#include <string_view>

#include "model/case_file.h"
#include "sign/learning.h"

namespace whystop {

/// The series of that role that says most: the one with the most points, of the lowest rank. nullptr: there is none.
const Finding* BestOf(const CaseFile& run, std::string_view role);
/// The score to judge by: one that improved (precision may be traded for recall, and the whole gets better), else the one
/// with the most points; scores of training before held-out ones.
const Finding* BestScore(const CaseFile& run);

/// What "loss/trend" says of a series.
Learning StateOf(const Finding& series);
/// Of no series: false.
bool Improved(const Finding* series);

/// "2.31 -> 0.28"; where these are levels of the ends and stand in no log, they are called so.
std::string DescribeEnds(const Finding& series);
/// One line for people: what the series did, seen as `state`.
std::string Describe(const Finding& series, Learning state);
LearningView View(const Finding& basis, Learning state);

}  // namespace whystop

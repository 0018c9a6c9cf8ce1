#pragma once

#include <string_view>

#include "cause/cause.h"

namespace whystop {

/// Weighs one of the causes of a standstill: a hang has one kind, and only that cause is under
/// suspicion.
void WeighHang(const CaseFile& run, std::string_view cause, Hypothesis& out);

}  // namespace whystop

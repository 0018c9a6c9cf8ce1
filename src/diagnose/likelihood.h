#pragma once

#include "cause/declaration.h"

namespace whystop {

/// Before anything was seen, as log odds.
double PriorOf(const Declaration& declared);

/// What a sign of this verb weighs when it is there: the logarithm of how many times likelier it is
/// with this cause than without.
double WeightOf(Clause::Verb verb);

}  // namespace whystop

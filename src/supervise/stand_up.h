#pragma once

#include "base/result.h"

namespace whystop {

/// Tries, before there is a job, every service of the system that supervising cannot do without.
/// An Error: whystop cannot stand up here, and the job must be executed without it. What can be done
/// without (close_range, pidfd, splice, threads) is not asked: its users do without.
Status TryToStandUp();

}  // namespace whystop

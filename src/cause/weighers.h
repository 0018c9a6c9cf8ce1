#pragma once

#include "cause/cause.h"

namespace whystop {

// Every weigher, sorted; each is defined in src/cause/<id>/<id>.cc.

}  // namespace whystop

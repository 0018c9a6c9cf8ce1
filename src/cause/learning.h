#pragma once

#include "sign/learning.h"  // Moved; for branches of today that still name it here.

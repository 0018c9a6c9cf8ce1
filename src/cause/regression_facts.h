#pragma once

#include "sign/regression_facts.h"  // Moved; for branches of today that still name it here.

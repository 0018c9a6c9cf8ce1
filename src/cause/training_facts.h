#pragma once

#include "sign/training_facts.h"  // Moved; for branches of today that still name it here.

#pragma once

#include "sign/loop_facts.h"  // Moved; for branches of today that still name it here.

#pragma once

#include "model/case_file.h"  // Moved; for branches of today that still name it here.

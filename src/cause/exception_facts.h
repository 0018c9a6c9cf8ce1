#pragma once

#include "sign/exception_facts.h"  // Moved; for branches of today that still name it here.

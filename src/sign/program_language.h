#pragma once

#include <string_view>

#include "model/case_file.h"

namespace whystop {

/// The program is of C, C++ or another language that is compiled, as far as its processes tell: advice in Python would mean
/// nothing to its author. Where nothing is known it is taken for Python's.
bool IsNativeProgram(const CaseFile& run);

/// An advice that only makes sense in Python: it names a library, a call or a setting of it.
bool SpeaksPython(std::string_view advice);

}  // namespace whystop

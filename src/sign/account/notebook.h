#pragma once

#include "model/case_file.h"

namespace whystop {

/// Whether the job is the kernel of a notebook. To such a process SIGINT means "break off the cell", not "end": Jupyter
/// sends it also before it asks a kernel that does nothing to shut down.
bool IsNotebookKernel(const CaseFile& run);

}  // namespace whystop

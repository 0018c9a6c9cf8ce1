#include "sign/account/notebook.h"

#include <algorithm>

namespace whystop {

bool IsNotebookKernel(const CaseFile& run) {
  return run.start && std::any_of(run.start->command.begin(), run.start->command.end(),
                                  [](const std::string& word) {
                                    return word == "ipykernel_launcher" || word == "ipykernel" ||
                                           word.ends_with("/ipykernel_launcher.py");
                                  });
}

}  // namespace whystop

#include <algorithm>
#include <string_view>

#include "cause/evidence.h"
#include "cause/weighers.h"
#include "sign/exception_facts.h"

namespace whystop {

/// The file was found and opened, and is no archive: what the system says of it then ("Invalid argument") tells nothing.
void WeighCheckpointCorrupt(const CaseFile& run, Hypothesis& out) {
  const ExceptionSeen* exception = FindEndingException(run);
  if (exception == nullptr || exception->type == "FileNotFoundError" || exception->type == "PermissionError" ||
      exception->type == "IsADirectoryError") {
    return;
  }
  const bool opens_archive =
      std::any_of(exception->frames.begin(), exception->frames.end(), [](const Frame& frame) {
        return frame.file.ends_with("torch/serialization.py") && frame.source.find("PyTorchFileReader") != std::string::npos;
      });
  if (opens_archive) {
    out.Add(Decisive("exception", "torch.load could not open the checkpoint as an archive: " + DescribeException(*exception)));
  }
}

}  // namespace whystop

#include "cli/commands.h"
#include "cli/console.h"

namespace whystop {

int Doctor(const DoctorOptions& options) {
  static_cast<void>(options);
  Complain("doctor needs the sensors");
  return 1;
}

}  // namespace whystop

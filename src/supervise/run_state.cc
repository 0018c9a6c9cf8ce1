#include "supervise/run_state.h"

#include <sys/mman.h>

#include <new>

namespace whystop {

SharedRunState MakeSharedRunState() {
  void* memory =
      ::mmap(nullptr, sizeof(RunState), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    return nullptr;
  }
  return SharedRunState(::new (memory)
                            RunState{});  // tidy-allow raw-new: placed in the shared mapping
}

void RunStateUnmap::operator()(RunState* state) const { ::munmap(state, sizeof(RunState)); }

}  // namespace whystop

#pragma once

namespace whystop {

/// Ends this process by the signal that ended the job, without a core file of its own. Whoever waits for us can tell such
/// an end from a number: a loop in a shell stops at a Ctrl-C only if the command in it died of it. Returns where the
/// signal does nothing: in process 1 of a container.
void DieBy(int signal);

}  // namespace whystop

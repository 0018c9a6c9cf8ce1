#pragma once

namespace whystop {

/// Whether the job ended by what somebody typed on the terminal that we stand in front of: a shell script that waits for us got it too,
/// and asks how we end whether it is to end as well. Elsewhere the status is 128 and the number, as shells return it.
bool WasTypedForAllOfUs(int signal);

/// Ends this process by the signal that ended the job, without a core file of its own. Whoever waits for us can tell such
/// an end from a number: a loop in a shell stops at a Ctrl-C only if the command in it died of it. Returns where the
/// signal does nothing: in process 1 of a container.
void DieBy(int signal);

}  // namespace whystop

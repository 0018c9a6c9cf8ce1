#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/event.h"

namespace whystop {

/// This process's environment as "NAME=value".
std::vector<std::string> CurrentEnvironment();

/// The job's environment: ours with `set` added and `python_path_prepend` in front of PYTHONPATH
/// (once, also when runs are nested).
std::vector<std::string> JobEnvironment(std::vector<std::string> environment,
                                        const std::map<std::string, std::string>& set,
                                        const std::string& python_path_prepend);

/// The variables that may be recorded: schedulers, devices, ranks, session. Never a value that
/// could be secret.
std::map<std::string, std::string> RecordableEnvironment(
    const std::vector<std::string>& environment);

/// Fills in what can be known before the job starts: host, user, folder, limits, parent, redacted
/// command.
void FillRunFacts(const std::vector<std::string>& command,
                  const std::vector<std::string>& environment, RunStart& start);

}  // namespace whystop

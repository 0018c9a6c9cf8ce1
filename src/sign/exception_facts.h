#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/case_file.h"

namespace whystop {

/// The exception that ended the program; nullptr: there was none, or training went on after it.
const ExceptionSeen* FindEndingException(const CaseFile& run);

/// An exception with which a launcher tells that one of its processes failed.
bool IsLaunchersReport(const ExceptionSeen& exception);

/// Another rank's end as this one met it.
bool IsEchoOfAnotherRank(const ExceptionSeen& exception);

/// The exception that a process of this run died of by itself, if the log holds its text.
const ExceptionSeen* FindOwnException(const CaseFile& run);

/// The job is a shell or make, so that its status need not be the program's.
bool IsShell(const std::vector<std::string>& command);
/// `sh -c 'python train.py'`: the status is that command's own.
bool RunsOneCommand(const std::vector<std::string>& command);

struct StackPlace {
  bool found = false;
  std::string file;
  std::int64_t line = 0;
};

/// Where in the user's own code it happened: the innermost frame that is no library's.
StackPlace InnermostUsersFrame(const ExceptionSeen& exception);

/// "ValueError: bad shape": the point of a message, which may hold pages. Of a worker's exception that was raised again
/// with its traceback as the text, the worker's own words.
std::string PointOf(const ExceptionSeen& exception);

/// "ValueError: bad shape, at train.py:31 in step: `loss = f(x)`"
std::string DescribeException(const ExceptionSeen& exception);

}  // namespace whystop

#pragma once

#include <string>
#include <vector>

namespace whystop {

/// The arguments of a command with the values of those that look like secrets replaced by "***":
/// the value of
/// `--api-key=...`, `--password ...`, `TOKEN=...`, `https://user:password@host`, and tokens known
/// by their form.
std::vector<std::string> RedactSecrets(std::vector<std::string> arguments);

}  // namespace whystop

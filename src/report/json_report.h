#pragma once

#include <string>

#include "model/verdict.h"

namespace whystop {

/// The verdict as JSON, schema 1 (docs/verdict.schema.json): the same content that the terminal
/// shows.
std::string RenderJson(const Verdict& verdict);

}  // namespace whystop

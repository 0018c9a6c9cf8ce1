#pragma once

#include <vector>

#include "sense/surroundings.h"

namespace whystop {

// The facts of ReadSurroundings that come from single files and from the environment.

void AddContainer(const SurroundingsInput& input, std::vector<SurroundingFact>& out);
void AddScheduler(const SurroundingsInput& input, std::vector<SurroundingFact>& out);
void AddOvercommit(const SurroundingsInput& input, std::vector<SurroundingFact>& out);
void AddLimits(const SurroundingsInput& input, std::vector<SurroundingFact>& out);
void AddPressure(const SurroundingsInput& input, std::vector<SurroundingFact>& out);
void AddTracing(const SurroundingsInput& input, std::vector<SurroundingFact>& out);
void AddCorePattern(const SurroundingsInput& input, std::vector<SurroundingFact>& out);

}  // namespace whystop

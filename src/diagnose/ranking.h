#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/inference.h"

namespace whystop {

/// One answered question.
struct AnsweredSign {
  std::string_view id;
  std::string_view question;
  Sign sign;
};

/// What `inspect --ranking` shows: every sign with its answer, and how each considered cause fared.
struct Ranking {
  std::vector<AnsweredSign> signs;
  std::vector<Considered> considered;
};

std::vector<AnsweredSign> ListSigns(const SignTable& signs);

/// For people: the causes that were considered, the likeliest first, with what each line weighed.
std::string RenderRanking(const Ranking& ranking);
/// One JSON line a sign, for the laboratory.
std::string RenderSigns(const Ranking& ranking);

}  // namespace whystop

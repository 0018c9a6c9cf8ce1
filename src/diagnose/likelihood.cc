#include "diagnose/likelihood.h"

namespace whystop {

double PriorOf(const Declaration& declared) {
  constexpr double kSpecial = 0.1;  // Less than any sign weighs: it decides where nothing else does.
  return declared.special_of.empty() ? -1 : -1 - kSpecial;
}

double WeightOf(Clause::Verb verb) {
  switch (verb) {
    case Clause::Verb::kExact:
      return 5;
    case Clause::Verb::kStrong:
      return 3.2;
    case Clause::Verb::kExplains:
      return 1.6;
    case Clause::Verb::kRequires:
    case Clause::Verb::kExcludes:
      break;
  }
  return 0;
}

}  // namespace whystop

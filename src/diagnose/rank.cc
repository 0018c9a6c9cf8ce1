#include "diagnose/rank.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <tuple>

namespace whystop {
namespace {

constexpr std::size_t kContributingMax = 4;

bool IsLearning(const Candidate& candidate) {
  return candidate.cause->answers == Answers::kLearning;
}

/// The watcher saw the job stand still for this reason.
bool IsSeenHang(const Candidate& candidate) {
  const auto& evidence = candidate.hypothesis.evidence();
  return std::any_of(evidence.begin(), evidence.end(),
                     [](const Evidence& one) { return one.kind == "hang"; });
}

bool ExplainsTheEnd(const Candidate& candidate) {
  return candidate.cause->answers == Answers::kStop &&
         (candidate.cause->outcome != Outcome::kUnknown || IsSeenHang(candidate));
}

/// "All planned epochs ran" is no answer where, as surely, something was wrong with them. What ended the run goes before
/// what was wrong with its learning.
bool IsBetter(const Candidate& a, const Candidate& b) {
  const auto key = [](const Candidate& one) {
    return std::tuple(one.confidence, !one.cause->fault, !ExplainsTheEnd(one), one.generic, -one.log_odds, one.order,
                      one.cause->id);
  };
  return key(a) < key(b);
}

/// That an exception was hidden, or raised in a worker, is what became of it; its text says what it was.
bool IsFateOfAnException(const Candidate& candidate) {
  return candidate.cause->id == "swallowed-exception" || candidate.cause->id == "dataloader-worker-exception";
}

/// Whether `first` brought about `second`, directly. A mere possibility does not take the blame for
/// a certainty, unless that is a symptom of learning, which says what happened and not why.
bool BroughtAbout(const Candidate& first, const Candidate& second) {
  const bool symptom = second.cause->answers == Answers::kLearning && second.generic;
  const bool can = CanLeadTo(*first.cause, second.cause->id) ||
                   (first.of_exception && !IsFateOfAnException(first) && IsFateOfAnException(second));
  return can && !second.hypothesis.begins_here() &&
         (first.confidence <= second.confidence || first.confidence == Confidence::kLikely ||
          (symptom && !first.generic));
}

VerdictCause ToVerdict(const Candidate& candidate, CauseRole role) {
  VerdictCause out;
  out.id = std::string(candidate.cause->id);
  out.role = role;
  out.confidence = candidate.confidence;
  out.answers = candidate.cause->answers;
  out.fault = candidate.cause->fault;
  out.evidence = candidate.hypothesis.evidence();
  out.fixes = candidate.hypothesis.fixes();
  if (const CausePage* page = FindPage(candidate.cause->id)) {
    out.title = std::string(page->title);
    if (!candidate.hypothesis.fixes_are_all()) {
      out.fixes.insert(out.fixes.end(), page->fixes.begin(), page->fixes.end());
    }
  }
  return out;
}

/// Gives each candidate its part in the verdict.
class Casting {
 public:
  explicit Casting(std::vector<Candidate> candidates)
      : candidates_(std::move(candidates)), roles_(candidates_.size()) {
    std::sort(candidates_.begin(), candidates_.end(), IsBetter);
    cause_of_.resize(candidates_.size());
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      for (std::size_t j = 0; j < candidates_.size(); ++j) {
        if (i != j && !cause_of_[i] && BroughtAbout(candidates_[j], candidates_[i]) &&
            RootOf(j) != i) {
          cause_of_[i] = j;
        }
      }
    }
  }

  std::vector<VerdictCause> Cast() {
    CastQuestion([](const Candidate& candidate) { return ExplainsTheEnd(candidate); });
    CastQuestion([](const Candidate& candidate) { return IsLearning(candidate); });
    ShareAmongRivals();
    CastContributing();
    std::vector<VerdictCause> out;
    Collect(CauseRole::kRoot, out);
    CollectConsequences(out);
    Collect(CauseRole::kContributing, out);
    return out;
  }

 private:
  std::size_t RootOf(std::size_t index) const {
    for (std::size_t steps = 0; cause_of_[index] && steps < candidates_.size(); ++steps) {
      index = *cause_of_[index];
    }
    return index;
  }

  /// The best answer to one question, its root, and everything on the way from one to the other.
  template <typename Answers>
  void CastQuestion(Answers answers) {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!answers(candidates_[i])) {
        continue;
      }
      const std::size_t root = RootOf(i);
      roles_[root] = CauseRole::kRoot;
      for (std::size_t other = 0; other < candidates_.size(); ++other) {
        if (other != root && RootOf(other) == root) {
          roles_[other] = CauseRole::kConsequence;
        }
      }
      return;
    }
  }

  std::optional<std::size_t> LearningRoot() const {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (roles_[i] == CauseRole::kRoot && IsLearning(candidates_[i])) {
        return i;
      }
    }
    return std::nullopt;
  }

  /// Rivals for the root that the evidence does not tell apart share what is known. What was seen
  /// itself stays as it is.
  void ShareAmongRivals() {
    const auto root = LearningRoot();
    if (!root || candidates_[*root].exact) {
      return;
    }
    const auto is_rival = [this](std::size_t i) {
      return IsLearning(candidates_[i]) && !cause_of_[i] && !candidates_[i].exact;
    };
    double all = 0;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      all += is_rival(i) ? std::exp(candidates_[i].log_odds) : 0;
    }
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (is_rival(i)) {
        const double others = std::max(0.0, all - std::exp(candidates_[i].log_odds));
        const double left = candidates_[i].log_odds - std::log1p(others);
        candidates_[i].confidence = std::max(candidates_[i].confidence, ConfidenceAt(left));
      }
    }
  }

  /// Whether it is worth a line beside the root: it was seen itself, it explains what the root and
  /// its consequences do not, or the root is open and it is a rival.
  bool AddsToLearning(const Candidate& candidate) const {
    const auto root = LearningRoot();
    if (!root || candidate.exact || candidates_[*root].confidence == Confidence::kPossible) {
      return true;
    }
    return std::any_of(
        candidate.explains.begin(), candidate.explains.end(), [this](std::string_view sign) {
          return !IsComplaint(sign) && !IsExplainedByTheChain(sign);
        });
  }

  bool IsExplainedByTheChain(std::string_view sign) const {
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const auto& explains = candidates_[i].explains;
      if (roles_[i] && std::find(explains.begin(), explains.end(), sign) != explains.end()) {
        return true;
      }
    }
    return false;
  }

  void CastContributing() {
    std::size_t contributing = 0;
    const auto root = LearningRoot();
    const bool open = root && candidates_[*root].confidence == Confidence::kPossible;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const bool learning = IsLearning(candidates_[i]);
      const bool may = !ExplainsTheEnd(candidates_[i]) &&
                       (learning ? AddsToLearning(candidates_[i]) &&
                                       (open || candidates_[i].confidence != Confidence::kPossible)
                                 : candidates_[i].confidence != Confidence::kPossible);
      if (!roles_[i] && may && contributing < kContributingMax) {
        roles_[i] = CauseRole::kContributing;
        ++contributing;
      }
    }
  }

  /// Faults first: a normal end explains nothing.
  void Collect(CauseRole role, std::vector<VerdictCause>& out) const {
    for (const bool fault : {true, false}) {
      for (std::size_t i = 0; i < candidates_.size(); ++i) {
        if (roles_[i] == role && candidates_[i].cause->fault == fault) {
          out.push_back(ToVerdict(candidates_[i], role));
        }
      }
    }
  }

  /// In the order in which one brought about the next.
  void CollectConsequences(std::vector<VerdictCause>& out) const {
    std::vector<const Candidate*> left;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (roles_[i] == CauseRole::kConsequence) {
        left.push_back(&candidates_[i]);
      }
    }
    while (!left.empty()) {
      const auto is_first = [&left](const Candidate* one) {
        return std::none_of(left.begin(), left.end(), [one](const Candidate* other) {
          return other != one && CanLeadTo(*other->cause, one->cause->id);
        });
      };
      auto next = std::find_if(left.begin(), left.end(), is_first);
      next = next == left.end() ? left.begin() : next;  // A circle: any of them.
      out.push_back(ToVerdict(**next, CauseRole::kConsequence));
      left.erase(next);
    }
  }

  std::vector<Candidate> candidates_;
  std::vector<std::optional<CauseRole>> roles_;
  std::vector<std::optional<std::size_t>> cause_of_;
};

}  // namespace

std::vector<VerdictCause> RankCauses(std::vector<Candidate> candidates) {
  return Casting(std::move(candidates)).Cast();
}

}  // namespace whystop

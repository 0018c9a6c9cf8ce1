// Judges a file at every length it has while it grows byte by byte, as `whystop why` would judge it
// a day later.
//
//   judge_cuts FILE SCRATCH   prints one JSON line for each different verdict: {"length",
//   "outcome", "causes"}

#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <set>
#include <string>

#include "base/clock.h"
#include "base/fd.h"
#include "diagnose/analysis.h"
#include "import/open.h"

namespace {

using namespace whystop;

/// The verdict's claims as JSON; empty: the file holds nothing that a run leaves.
std::string ClaimsOf(const std::string& path) {
  const auto found = FindRuns({path}, {}, [](std::size_t) {});
  if (!found || found->runs.empty()) {
    return "";
  }
  Analysis analysis;
  if (!ReadRun(found->runs[0], ReadClocks().wall + std::chrono::hours(24), analysis)) {
    return "";
  }
  const Verdict verdict = analysis.Judge(/*job_alive=*/false);
  std::string causes;
  for (const VerdictCause& cause : verdict.causes) {
    causes += (causes.empty() ? "\"" : ", \"") + cause.id + "\"";
  }
  return "\"outcome\": \"" + std::string(Name(verdict.outcome)) + "\", \"causes\": [" + causes +
         "]";
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: judge_cuts FILE SCRATCH\n");
    return 2;
  }
  const auto bytes = ReadFile(arguments[1], 1 << 20);
  const Fd growing(::open(arguments[2], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!bytes || growing.get() < 0) {
    return 2;
  }
  std::set<std::string> told;
  for (std::size_t length = 0; length <= bytes->size(); ++length) {
    const std::string claims = ClaimsOf(arguments[2]);
    if (!claims.empty() && told.insert(claims).second) {
      std::printf("{\"length\": %zu, %s}\n", length, claims.c_str());
    }
    if (length < bytes->size() && ::write(growing.get(), bytes->data() + length, 1) != 1) {
      return 2;
    }
  }
  std::printf("{\"lengths\": %zu}\n", bytes->size() + 1);
  return 0;
}

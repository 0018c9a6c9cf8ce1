#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "report/json_writer.h"
#include "sense/surroundings.h"

extern char** environ;

namespace whystop {
namespace {

std::map<std::string, std::string> Environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos) {
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return variables;
}

std::string_view NameOf(SurroundingFact::State state) {
  switch (state) {
    case SurroundingFact::State::kOk:
      return "ok";
    case SurroundingFact::State::kLimited:
      return "limited";
    case SurroundingFact::State::kUnavailable:
      break;
  }
  return "unavailable";
}

SurroundingFact ProbeFact() {
  const std::string bootstrap = PythonBootstrap();
  if (bootstrap.empty()) {
    return {"Python probe", "not found beside the program", SurroundingFact::State::kUnavailable,
            "reinstall whystop; without the probe a run is judged by its output and its exit"};
  }
  return {"Python probe", bootstrap, SurroundingFact::State::kOk, ""};
}

}  // namespace

int Doctor(const DoctorOptions& options) {
  std::error_code fault;
  SurroundingsInput input;
  input.working_folder = std::filesystem::current_path(fault).string();
  input.recording_folder = HomeOfRecordings();
  input.environment = Environment();
  std::vector<SurroundingFact> facts = ReadSurroundings(input);
  facts.push_back(ProbeFact());
  JsonWriter json(2);
  json.OpenList();
  for (const SurroundingFact& fact : facts) {
    if (!options.json) {
      PrintShown(fmt::format("{:<12} {:<26} {}\n", NameOf(fact.state), fact.name, fact.value));
      if (!fact.advice.empty() && fact.state != SurroundingFact::State::kOk) {
        PrintShown(fmt::format("{:<12} {:<26} {}\n", "", "", fact.advice));
      }
      continue;
    }
    json.Open();
    json.Text("name", fact.name);
    json.Text("value", fact.value);
    json.Text("state", NameOf(fact.state));
    json.Text("advice", fact.advice);
    json.Close();
  }
  json.CloseList();
  if (options.json) {
    Print(json.text() + "\n");
  }
  return 0;
}

}  // namespace whystop

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whystop {

/// What may stand somewhere on the command line, as far as a shell can offer it.
enum class Offer { kNothing, kWords, kFiles, kFolders, kRecordings, kCauses, kCommands };

struct ShownOption {
  std::vector<std::string> names;  // "-o", "--output"; of what has no name: what it is called in the help.
  std::string description;
  bool named = true;
  bool takes_value = false;
  bool many = false;
  Offer offer = Offer::kNothing;
  std::vector<std::string> words;  // For Offer::kWords.
};

struct ShownCommand {
  std::string name;
  std::string description;
  std::string footer;
  std::vector<ShownOption> options;
};

/// The command line as data, made from its one declaration: what completion and the manual page are
/// written from, so that they cannot go stale.
struct CommandTable {
  std::string description;
  std::string footer;
  std::vector<ShownCommand> commands;
};

/// "bash", "zsh" or "fish"; empty: no such shell.
std::string CompletionScript(const CommandTable& table, std::string_view shell);
/// The page whystop(1), for man.
std::string ManPage(const CommandTable& table);

}  // namespace whystop

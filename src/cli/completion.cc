#include <fmt/format.h>

#include <algorithm>

#include "cli/command_table.h"

namespace whystop {
namespace {

std::string Joined(const std::vector<std::string>& words, std::string_view between = " ") {
  return fmt::format("{}", fmt::join(words, between));
}

/// In single quotes, for any of the shells.
std::string Quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out + "'";
}

const ShownOption* Unnamed(const ShownCommand& command) {
  const auto found = std::find_if(command.options.begin(), command.options.end(),
                                  [](const ShownOption& option) { return !option.named; });
  return found == command.options.end() ? nullptr : &*found;
}

std::vector<std::string> NamesOf(const ShownCommand& command) {
  std::vector<std::string> names;
  for (const ShownOption& option : command.options) {
    if (option.named) {
      names.insert(names.end(), option.names.begin(), option.names.end());
    }
  }
  return names;
}

/// What a shell function calls to offer `option`'s value; $cur is what was typed so far.
std::string BashOffer(const ShownOption& option) {
  switch (option.offer) {
    case Offer::kNothing:
      return ":";
    case Offer::kWords:
      return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", Joined(option.words));
    case Offer::kFiles:
      return "compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Offer::kFolders:
      return "compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\"))";
    case Offer::kRecordings:
      return "compopt -o filenames; COMPREPLY=($(compgen -W \"$(whystop complete-words recordings "
             "2>/dev/null)\" -- \"$cur\") $(compgen -f -- \"$cur\"))";
    case Offer::kCauses:
      return "COMPREPLY=($(compgen -W \"$(whystop complete-words causes 2>/dev/null)\" -- \"$cur\"))";
    case Offer::kCommands:
      return "if declare -F _command_offset >/dev/null; then _command_offset $first; else "
             "COMPREPLY=($(compgen -c -- \"$cur\") $(compgen -f -- \"$cur\")); fi";
  }
  return ":";
}

std::string Bash(const CommandTable& table) {
  std::vector<std::string> commands;
  std::string values;
  std::string options;
  std::string rest;
  for (const ShownCommand& command : table.commands) {
    commands.push_back(command.name);
    for (const ShownOption& option : command.options) {
      if (option.named && option.takes_value) {
        std::vector<std::string> patterns;
        for (const std::string& name : option.names) {
          patterns.push_back(fmt::format("'{} {}'", command.name, name));
        }
        values += fmt::format("    {}) {}; return ;;\n", Joined(patterns, "|"), BashOffer(option));
      }
    }
    options += fmt::format("      {}) COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", command.name,
                           Joined(NamesOf(command)));
    if (const ShownOption* unnamed = Unnamed(command)) {
      rest += fmt::format("    {}) {} ;;\n", command.name, BashOffer(*unnamed));
    }
  }
  return fmt::format(
      R"END(# Completion of whystop for bash; written by 'whystop completion bash'.
_whystop() {{
  local IFS=$' \t\n' cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD-1]}} first i
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$cur"))
    return
  fi
  if [[ ${{COMP_WORDS[1]}} == run ]]; then
    for ((i = 2; i < COMP_CWORD; i++)); do
      if [[ ${{COMP_WORDS[i]}} == -- ]]; then
        first=$((i + 1))
        {}
        return
      fi
    done
  fi
  case "${{COMP_WORDS[1]}} $prev" in
{}  esac
  if [[ $cur == -* ]]; then
    case ${{COMP_WORDS[1]}} in
{}    esac
    return
  fi
  first=$COMP_CWORD
  case ${{COMP_WORDS[1]}} in
{}  esac
}}
complete -F _whystop whystop
)END",
      Joined(commands), BashOffer({.names = {}, .description = {}, .offer = Offer::kCommands, .words = {}}),
      values, options, rest);
}

std::string ZshOffer(const ShownOption& option) {
  switch (option.offer) {
    case Offer::kNothing:
      return " ";
    case Offer::kWords:
      return fmt::format("({})", Joined(option.words));
    case Offer::kFiles:
      return "_files";
    case Offer::kFolders:
      return "_files -/";
    case Offer::kRecordings:
      return "_whystop_recordings";
    case Offer::kCauses:
      return "_whystop_causes";
    case Offer::kCommands:
      return "_command_names -e";
  }
  return " ";
}

/// Brackets and colons mean something to _arguments.
std::string ZshText(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out += c == '[' || c == ']' || c == ':' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  }
  return out;
}

std::string Zsh(const CommandTable& table) {
  std::string commands;
  std::string cases;
  for (const ShownCommand& command : table.commands) {
    commands += fmt::format("    {}\n", Quoted(fmt::format("{}:{}", command.name, ZshText(command.description))));
    cases += fmt::format("        {})\n          _arguments -S", command.name);
    for (const ShownOption& option : command.options) {
      for (const std::string& name : option.names) {
        const std::string value =
            option.takes_value ? fmt::format(":{}:{}", ZshText(option.names.back()), ZshOffer(option)) : "";
        cases += " \\\n            ";
        if (option.named) {
          cases += Quoted(fmt::format("{}[{}]{}", name, ZshText(option.description), value));
        } else if (option.offer == Offer::kCommands) {
          cases += "'(-)1:command: _command_names -e' '*::arguments:_normal'";
        } else {
          cases += Quoted(fmt::format("{}:{}:{}", option.many ? "*" : "1", name, ZshOffer(option)));
        }
      }
    }
    cases += "\n          ;;\n";
  }
  return fmt::format(
      R"END(#compdef whystop
# Completion of whystop for zsh; written by 'whystop completion zsh'.
_whystop_recordings() {{
  _alternative 'recordings:recording:(${{(f)"$(whystop complete-words recordings 2>/dev/null)"}})' 'files:file:_files'
}}
_whystop_causes() {{
  local -a causes
  causes=(${{(f)"$(whystop complete-words causes 2>/dev/null)"}})
  compadd -a causes
}}
_whystop() {{
  local curcontext="$curcontext" state line
  local -a commands
  commands=(
{}  )
  _arguments -C '--help[Print the help]' '--version[Print the version]' '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
{}      esac
      ;;
  esac
}}
_whystop "$@"
)END",
      commands, cases);
}

std::string FishOffer(const ShownOption& option) {
  switch (option.offer) {
    case Offer::kNothing:
      return " -x";
    case Offer::kWords:
      return " -x -a " + Quoted(Joined(option.words));
    case Offer::kFiles:
      return " -r -F";
    case Offer::kFolders:
      return " -x -a '(__fish_complete_directories)'";
    case Offer::kRecordings:
      return " -r -F -a '(whystop complete-words recordings 2>/dev/null)'";
    case Offer::kCauses:
      return " -x -a '(whystop complete-words causes 2>/dev/null)'";
    case Offer::kCommands:
      return " -x -a '(__fish_complete_subcommand --fcs-skip=2)'";
  }
  return "";
}

std::string Fish(const CommandTable& table) {
  std::string text =
      "# Completion of whystop for fish; written by 'whystop completion fish'.\n"
      "complete -c whystop -f\n"
      "complete -c whystop -n __fish_use_subcommand -l help -d 'Print the help'\n"
      "complete -c whystop -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const ShownCommand& command : table.commands) {
    text += fmt::format("complete -c whystop -n __fish_use_subcommand -a {} -d {}\n", command.name,
                        Quoted(command.description));
    for (const ShownOption& option : command.options) {
      text += fmt::format("complete -c whystop -n '__fish_seen_subcommand_from {}'", command.name);
      for (const std::string& name : option.named ? option.names : std::vector<std::string>()) {
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      }
      text += option.takes_value || !option.named ? FishOffer(option) : "";
      text += option.named ? " -d " + Quoted(option.description) + "\n" : "\n";
    }
  }
  return text;
}

}  // namespace

std::string CompletionScript(const CommandTable& table, std::string_view shell) {
  return shell == "bash" ? Bash(table) : shell == "zsh" ? Zsh(table) : shell == "fish" ? Fish(table) : "";
}

}  // namespace whystop

#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/version.h"
#include "cli/command_table.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/nearest.h"

namespace whystop {
namespace {

/// Options of one command and the command itself, declared together so that help cannot drift.
template <typename T>
struct Declared {
  CLI::App* app = nullptr;
  T options;
};

Declared<RunOptions>& DeclareRun(CLI::App& app, Declared<RunOptions>& run) {
  run.app = app.add_subcommand("run", "Run a command and record it");
  run.app->footer(
      "Example:\n  whystop run -- python train.py --epochs 10\n\n"
      "The job keeps its terminal, its output and its exit status. Recordings go to "
      "$WHYSTOP_HOME,\n"
      "or else to whystop/ in the XDG state folder.\n\n"
      "The command of --notify gets the headline on its standard input and in $WHYSTOP_HEADLINE, "
      "with $WHYSTOP_EVENT\n(hang, diverged, end), $WHYSTOP_OUTCOME, $WHYSTOP_LEARNING and "
      "$WHYSTOP_RUN (the recording):\n"
      "  whystop run --notify 'mail -s \"$WHYSTOP_EVENT\" me@example.org' -- python train.py");
  run.app->add_option("--dir", run.options.directory, "Record into this folder");
  run.app->add_flag("-q,--quiet", run.options.quiet, "Print nothing of our own");
  run.app->add_flag("!--no-probe", run.options.probe, "Do not look inside Python processes");
  run.app->add_option("--log-head", run.options.log_head_mib, "MiB of output kept from the start")
      ->check(CLI::Range(0, 1 << 20));
  run.app->add_option("--log-tail", run.options.log_tail_mib, "MiB of output kept from the end")
      ->check(CLI::Range(1, 1 << 20));
  run.app->add_option("--max-size", run.options.max_size,
                      "What the recording may take on the disk (200M); longer runs are thinned");
  run.app
      ->add_option("--hang-after", run.options.hang_after_s,
                   "Seconds without progress after which to look whether it hangs (learned)")
      ->check(CLI::Range(0.1, 1e9));
  run.app
      ->add_option("--on-hang", run.options.on_hang,
                   "What to do with a job that hangs: report (default), stop, restart")
      ->check(CLI::IsMember({"report", "stop", "restart"}));
  run.app->add_option("--notify", run.options.notify,
                      "Shell command to run when the job hangs, diverges or ends");
  run.app->add_option("command", run.options.command, "The command and its arguments")->required();
  run.app->positionals_at_end();
  return run;
}

void DeclareWhy(CLI::App& app, Declared<WhyOptions>& why) {
  why.app = app.add_subcommand("why", "Say why a run stopped, and whether it was learning");
  why.app->footer(
      "Examples:\n  whystop why                        the newest recording\n"
      "  whystop why slurm-1234.out logs/   a run that whystop did not watch\n"
      "  kubectl logs pod | whystop why -\n\n"
      "Exit status: 0 nothing wrong found, 1 a fault was found, 2 unreadable input, 3 not enough "
      "evidence.");
  why.app->add_option("path", why.options.paths,
                      "Recording, log, metric file or folder; - for standard input");
  why.app->add_flag("--json", why.options.json, "Print the verdict as JSON");
  why.app->add_flag("-f,--follow", why.options.follow,
                    "Show how the run stands until it ends, then tell the verdict; without a terminal, what is found on the way");
  why.app
      ->add_option("--notify", why.options.notify,
                   "With --follow: shell command to run when the run hangs, diverges or ends")
      ->needs("--follow");
}

void DeclarePrune(CLI::App& app, Declared<PruneOptions>& prune) {
  prune.app = app.add_subcommand("prune", "Delete old recordings");
  prune.app->footer(
      "Examples:\n  whystop prune --older 30d              those that began more than 30 days ago\n"
      "  whystop prune --keep 20                all but the newest 20\n"
      "  whystop prune --max-size 2G --keep 5   the oldest until 2 GiB are left, but never the newest 5\n\n"
      "Deletes finished recordings under $WHYSTOP_HOME, and in their folders only what whystop wrote. A "
      "recording that\nis still written to is never touched.");
  prune.app->add_option("--older", prune.options.older, "Those that began longer ago: 12h, 30d, 8w");
  prune.app->add_option("--keep", prune.options.keep, "The newest so many stay in any case")
      ->check(CLI::Range(0, 1 << 30));
  prune.app->add_option("--max-size", prune.options.max_size,
                        "The oldest, until all together are no larger: 500M, 2G");
  prune.app->add_flag("--dry-run", prune.options.dry_run, "Only say what would be deleted");
  prune.app->add_flag("--json", prune.options.json, "Print as JSON");
}

void DeclareOthers(CLI::App& app, Declared<RunsOptions>& runs, Declared<ExplainOptions>& explain,
                   Declared<InspectOptions>& inspect, Declared<DoctorOptions>& doctor) {
  runs.app = app.add_subcommand("runs", "List the recorded runs");
  runs.app->footer(
      "Example:\n  whystop runs\n\n"
      "The newest comes last. Every command that takes a recording takes the beginning of an id, or "
      "its last part.");
  runs.app->add_flag("--json", runs.options.json, "Print as JSON lines");

  explain.app = app.add_subcommand("explain", "Print what is known about a cause");
  explain.app->footer("Example:\n  whystop explain cgroup-oom-kill");
  explain.app->add_option("cause", explain.options.cause,
                          "Id of a cause; without it, all are listed");
  explain.app->add_flag("--json", explain.options.json, "Print as JSON");

  inspect.app = app.add_subcommand("inspect", "Print a recording as JSON lines");
  inspect.app->footer(
      "Examples:\n  whystop inspect 20261115-221500-7f3a --kind process-end\n"
      "  whystop inspect --output | less");
  inspect.app->add_option("recording", inspect.options.path, "Recording; without it, the newest");
  inspect.app->add_option("--kind", inspect.options.kind,
                          "Only events of this kind (sample, log-fact, scalar, ...)");
  inspect.app->add_flag("--output", inspect.options.output,
                        "The job's own output as it was recorded, not the events");
  inspect.app->add_flag("--findings", inspect.options.findings,
                        "What the detectors saw in it, not the events");
  inspect.app->add_flag("--ranking", inspect.options.ranking,
                        "Print the table behind the verdict: which causes were considered, what "
                        "each sign weighed");
  inspect.app->add_flag("--signs", inspect.options.signs,
                        "Print every sign with its answer, as JSON lines");
  inspect.app->add_flag("--json", inspect.options.json, "Always on: the output is JSON lines");

  doctor.app =
      app.add_subcommand("doctor", "Say what whystop can see here and which limits are in force");
  doctor.app->footer("Example:\n  whystop doctor");
  doctor.app->add_flag("--json", doctor.options.json, "Print as JSON");
}

void DeclareInstallHook(CLI::App& app, Declared<InstallHookOptions>& hook) {
  hook.app = app.add_subcommand("install-hook",
                                "Let the probe load into Pythons that are started with -E or -I");
  hook.app->footer(
      "Example:\n  whystop install-hook --python .venv/bin/python\n\n"
      "Writes whystop.pth beside that Python's packages. It does nothing but under 'whystop run'.");
  hook.app->add_option("--python", hook.options.python, "The interpreter (python3)");
  hook.app->add_flag("--remove", hook.options.remove, "Take it away again");
  hook.app->add_flag("--json", hook.options.json, "Print as JSON");
}

void DeclareInstallKernel(CLI::App& app, Declared<InstallKernelOptions>& kernel) {
  kernel.app = app.add_subcommand("install-kernel", "Make a notebook kernel that records what it runs");
  kernel.app->footer(
      "Example:\n  whystop install-kernel --python .venv/bin/python\n\n"
      "Then choose \"Python (whystop)\" in JupyterLab or VS Code. '%whystop why' in a cell gives the "
      "verdict so far.");
  kernel.app->add_option("--python", kernel.options.python, "The interpreter, with ipykernel (python3)");
  kernel.app->add_option("--name", kernel.options.name, "Name of the kernel (whystop)");
  kernel.app->add_option("--prefix", kernel.options.prefix, "Install under PREFIX/share/jupyter");
  kernel.app->add_flag("--remove", kernel.options.remove, "Take it away again");
  kernel.app->add_flag("--json", kernel.options.json, "Print as JSON");
}

void DeclareAttach(CLI::App& app, Declared<AttachOptions>& attach) {
  attach.app =
      app.add_subcommand("attach", "Look at a running process: where it is, what it waits for");
  attach.app->footer(
      "Example:\n  whystop attach 4711\n\n"
      "Looks from outside at the process and its children: stacks, what each waits for, resources, limits. "
      "Nothing is changed in them and they are not held up.");
  attach.app->add_option("pid", attach.options.pid, "The process")->required();
  attach.app->add_option("--looks", attach.options.looks, "How many looks (3); one alone cannot tell what stands still")
      ->check(CLI::Range(1, 100));
  attach.app->add_option("--interval", attach.options.interval_s, "Seconds between the looks (2)")
      ->check(CLI::Range(0.05, 600.0));
  attach.app->add_flag("--json", attach.options.json, "Print as JSON");
}

void DeclareWatchHangs(CLI::App& app, Declared<WatchHangsOptions>& watch) {
  watch.app = app.add_subcommand("watch-hangs", "The process beside 'run' that notices hangs");
  watch.app->group("");  // Not shown: nobody needs to call it.
  watch.app->add_option("--dir", watch.options.directory)->required();
  watch.app->add_option("--hang-after", watch.options.hang_after_s);
  watch.app->add_option("--on-hang", watch.options.on_hang);
  watch.app->add_option("--late-bytes", watch.options.late_bytes);
  watch.app->add_option("--middle-bytes", watch.options.middle_bytes);
  watch.app->add_flag("--quiet", watch.options.quiet);
}

void DeclareNotify(CLI::App& app, Declared<NotifyOptions>& notify) {
  notify.app = app.add_subcommand("notify", "The process beside 'run --notify'");
  notify.app->group("");  // Not shown: nobody needs to call it.
  notify.app->add_option("--dir", notify.options.directory)->required();
  notify.app->add_option("--command", notify.options.command)->required();
  notify.app->add_flag("--quiet", notify.options.quiet);
}

void DeclareReport(CLI::App& app, Declared<ReportOptions>& report) {
  report.app = app.add_subcommand("report", "Write a run as one HTML file: verdict and charts");
  report.app->footer(
      "Examples:\n  whystop report -o report.html            the newest recording\n"
      "  whystop report slurm-1234.out logs/      a run that whystop did not watch\n"
      "  whystop report 7f3a 91bc -o both.html    two runs side by side\n\n"
      "The file needs no network. It holds lines of the log and of your source: look before you "
      "send it.");
  report.app->add_option("path", report.options.paths,
                         "Recordings, logs, metric files or folders; without one, the newest");
  report.app->add_option("-o,--output", report.options.output,
                         "The file to write (report.html); - for standard output");
  report.app->add_flag("--json", report.options.json, "Say as JSON what was written");
}

void DeclareExport(CLI::App& app, Declared<ExportOptions>& out) {
  out.app = app.add_subcommand("export", "Write a run's series for other programs");
  out.app->footer(
      "Examples:\n  whystop export > run.csv\n  whystop export 7f3a --format sqlite -o run.sqlite\n"
      "  whystop export train.log --format tensorboard -o runs/train");
  out.app->add_option("run", out.options.path,
                      "Recording, log, metric file or folder; without it, the newest recording");
  out.app->add_option("--format", out.options.format, "csv, jsonl, sqlite or tensorboard (csv)");
  out.app->add_option("-o,--output", out.options.output,
                      "File to write, for tensorboard a folder; - for standard output");
  out.app->add_flag("--resources", out.options.resources,
                    "Also what was read of the machine (sqlite always holds it)");
  out.app->add_flag("--json", out.options.json, "The same as --format jsonl");
}

void DeclareServe(CLI::App& app, Declared<ServeOptions>& serve) {
  serve.app = app.add_subcommand("serve", "Show runs in a browser, live");
  serve.app->footer(
      "Example:\n  whystop serve\n\n"
      "Prints the address to open. It listens to this machine only; for another, forward the "
      "port:\n"
      "  ssh -L 7837:127.0.0.1:7837 cluster\n"
      "Prometheus: /metrics, with the token as 'Authorization: Bearer'.");
  serve.app->add_option("run", serve.options.runs, "Recordings; without one, all");
  serve.app->add_option("--listen", serve.options.address, "Address (127.0.0.1)");
  serve.app->add_option("--port", serve.options.port, "Port (7837); 0 for any that is free");
  serve.app->add_flag("!--no-token", serve.options.token,
                      "Let every user of this machine look; refused for other addresses");
  serve.app->add_flag("--json", serve.options.json, "Say as JSON where it listens");
}

void DeclareTop(CLI::App& app, Declared<TopOptions>& top) {
  top.app = app.add_subcommand("top", "Show a run in the terminal, live");
  top.app->footer("Example:\n  whystop top\n\nq or Ctrl-C leaves it; the run goes on.");
  top.app->add_option("run", top.options.run, "Recording; without it, the newest");
  top.app->add_flag("--once", top.options.once, "Print it once and leave");
  top.app->add_flag("--json", top.options.json, "Print it once as JSON");
}

/// What `try` and `fit` share.
void DeclareRerun(CLI::App& command, RerunOptions& options) {
  command.add_option("recording", options.path, "Recording; without it, the newest");
  command.add_option("--budget", options.budget, "Time for all trials: 180s, 5m")
      ->capture_default_str();
  command.add_flag("--network", options.network, "Let trials use the network");
  command.add_flag("--beside", options.beside, "Although the run is still alive");
  command.add_flag("--in-place", options.in_place,
                   "Without protection: trials write where the program writes");
  command.add_flag("--json", options.json, "Print the answer as JSON");
}

void DeclareTry(CLI::App& app, Declared<TryOptions>& attempt) {
  attempt.app = app.add_subcommand("try", "Find out by experiment why a run did not learn");
  attempt.app->footer(
      "Examples:\n  whystop try                        the newest recording\n"
      "  whystop try --budget 5m 7f3a\n"
      "  whystop try --fix lr=0.01          one trial of your own\n"
      "  whystop try 7f3a -- python train.py --token ...   when the command line held a secret\n\n"
      "Runs the program again for a while with one thing changed at a time. What a trial writes goes "
      "to a layer\nthat is thrown away. Afterwards 'whystop why' holds what was proven and refuted.");
  DeclareRerun(*attempt.app, attempt.options);
  attempt.app->add_option("--steps", attempt.options.steps, "Steps of a trial at most")
      ->check(CLI::Range(20, 1000000));
  attempt.app->add_option("--fix", attempt.options.fix,
                          "One trial: lr=0.01, lr-times=0.1, clip=1, shuffle, ...");
  attempt.app->add_option("--jobs", attempt.options.jobs, "Trials side by side")
      ->check(CLI::Range(1, 64));
  attempt.app->add_flag("--again", attempt.options.again, "Do not use the trials made before");
  attempt.app->add_flag("--apply", attempt.options.apply, "Write a proven fix into the source");
}

void DeclareFit(CLI::App& app, Declared<FitOptions>& fit) {
  fit.app = app.add_subcommand("fit", "Find out how large a batch fits into memory");
  fit.app->footer(
      "Examples:\n  whystop fit                        the newest recording\n"
      "  whystop fit --limit 8G 7f3a        on a machine, or in a job, with that much memory\n\n"
      "Runs the program again for a few steps with batches of several sizes, each within a limit of "
      "its own,\nso that neither the machine nor your run is driven out of memory.");
  DeclareRerun(*fit.app, fit.options);
  fit.app->add_option("--limit", fit.options.limit,
                      "Memory that it may use: 8G; without it, the limit of the run's control "
                      "group, or what is free");
}

void DeclareCompletion(CLI::App& app, CLI::App*& completion, std::string& shell, CLI::App*& man_page,
                       Declared<CompleteWordsOptions>& words) {
  completion = app.add_subcommand("completion", "Print the completion script of a shell");
  completion->footer(
      "Examples:\n  source <(whystop completion bash)\n"
      "  whystop completion zsh > ~/.zfunc/_whystop\n"
      "  whystop completion fish > ~/.config/fish/completions/whystop.fish");
  completion->add_option("shell", shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  man_page = app.add_subcommand("man-page", "Print the manual page");
  man_page->group("");  // Not shown: the build calls it.
  words.app = app.add_subcommand("complete-words", "What a shell may offer");
  words.app->group("");  // Not shown: the completion scripts call it.
  words.app->add_option("kind", words.options.kind)
      ->required()
      ->check(CLI::IsMember({"recordings", "causes"}));
}

/// "{report,stop,restart}" in what CLI11 says of an option's type.
std::vector<std::string> WordsOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t from = type.find('{');
  const std::size_t to = type.find('}', from);
  return from == type.npos || to == type.npos
             ? std::vector<std::string>()
             : CLI::detail::split(type.substr(from + 1, to - from - 1), ',');
}

/// What a value is follows from what it is called: the names on this command line mean the same everywhere.
Offer OfferOf(const std::string& name, bool has_words) {
  constexpr std::pair<std::string_view, Offer> kMeanings[] = {
      {"--dir", Offer::kFolders},    {"--output", Offer::kFiles},    {"--python", Offer::kFiles},   {"--prefix", Offer::kFolders},
      {"path", Offer::kRecordings},  {"run", Offer::kRecordings},    {"recording", Offer::kRecordings},
      {"cause", Offer::kCauses},     {"command", Offer::kCommands},
  };
  for (const auto& [called, offer] : kMeanings) {
    if (name == called) {
      return offer;
    }
  }
  return has_words ? Offer::kWords : Offer::kNothing;
}

CommandTable TableOf(const CLI::App& app) {
  CommandTable table{app.get_description(), app.get_footer(), {}};
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) {
      continue;
    }
    ShownCommand shown{command->get_name(), command->get_description(), command->get_footer(), {}};
    for (const CLI::Option* option : command->get_options()) {
      ShownOption one{.names = {}, .description = option->get_description(), .words = WordsOf(*option)};
      for (const std::string& name : option->get_snames()) {
        one.names.push_back("-" + name);
      }
      for (const std::string& name : option->get_lnames()) {
        one.names.push_back("--" + name);
      }
      one.named = !one.names.empty();
      if (!one.named) {
        one.names.push_back(option->get_name());
      }
      one.takes_value = option->get_type_size() != 0;
      one.many = option->get_items_expected_max() > 1;
      one.offer = OfferOf(one.names.back(), !one.words.empty());
      shown.options.push_back(std::move(one));
    }
    table.commands.push_back(std::move(shown));
  }
  return table;
}

/// The first word that is no option: an unknown command gets its nearest match.
bool RefuseUnknownCommand(const CLI::App& app, char** argv) {
  if (argv[1][0] == '-') {
    return false;
  }
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) {
      return false;
    }
    names.push_back(command->get_name());
  }
  Complain(fmt::format("unknown command '{}'{}", argv[1], DidYouMean(argv[1], names)),
           "whystop --help lists the commands");
  return true;
}

void SayRefused(const CLI::App& app, const CLI::ParseError& refused) {
  const std::string command =
      app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " ";
  Complain(refused.what(), fmt::format("whystop {}--help", command));
}

/// The options of the command that was named; exactly one was.
template <typename... T>
ParsedLine ChosenOf(const Declared<T>&... commands) {
  ParsedLine line;
  ((*commands.app ? static_cast<void>(line.options = commands.options) : static_cast<void>(0)),
   ...);
  return line;
}

/// `try RUN -- COMMAND`, `fit RUN -- COMMAND`: what follows the dashes is a command of its own, not more recordings.
std::vector<std::string> CutAfterDashes(int& argc, char** argv) {
  std::vector<std::string> words;
  if (const std::string_view name = argv[1]; name != "try" && name != "fit") {
    return words;
  }
  for (int i = 2; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--") {
      words.assign(argv + i + 1, argv + argc);
      argc = i;
    }
  }
  return words;
}

/// The exit status where the words were refused, or only asked for help; nullopt: a command is to be carried out.
std::optional<int> StatusWithoutACommand(CLI::App& app, int argc, char** argv) {
  if (RefuseUnknownCommand(app, argv)) {
    return kExitUsage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& answered) {
    return app.exit(answered);
  } catch (const CLI::ParseError& refused) {
    SayRefused(app, refused);
    return kExitUsage;
  }
  return std::nullopt;
}

}  // namespace

ParsedLine ParseCommandLine(int argc, char** argv) {
  CLI::App app("The flight recorder for training runs, and the doctor who reads the recording.",
               "whystop");
  app.set_version_flag("--version", "whystop " + std::string(kVersion));
  app.require_subcommand(1);
  app.footer("Start with:\n  whystop run -- python train.py\n  whystop why");
  Declared<RunOptions> run;
  Declared<WhyOptions> why;
  Declared<RunsOptions> runs;
  Declared<PruneOptions> prune;
  Declared<ExplainOptions> explain;
  Declared<InspectOptions> inspect;
  Declared<DoctorOptions> doctor;
  Declared<InstallHookOptions> hook;
  Declared<TryOptions> attempt;
  DeclareRun(app, run);
  DeclareWhy(app, why);
  DeclareOthers(app, runs, explain, inspect, doctor);
  DeclarePrune(app, prune);
  DeclareInstallHook(app, hook);
  Declared<InstallKernelOptions> kernel;
  DeclareInstallKernel(app, kernel);
  Declared<AttachOptions> attach;
  DeclareAttach(app, attach);
  Declared<WatchHangsOptions> watch;
  DeclareWatchHangs(app, watch);
  Declared<NotifyOptions> notify;
  DeclareNotify(app, notify);
  Declared<ReportOptions> report;
  DeclareReport(app, report);
  Declared<ExportOptions> out;
  DeclareExport(app, out);
  Declared<ServeOptions> serve;
  DeclareServe(app, serve);
  Declared<TopOptions> top;
  DeclareTop(app, top);
  DeclareTry(app, attempt);
  Declared<FitOptions> fit;
  DeclareFit(app, fit);
  CLI::App* completion = nullptr;
  CLI::App* man_page = nullptr;
  std::string shell;
  Declared<CompleteWordsOptions> words;
  DeclareCompletion(app, completion, shell, man_page, words);
  if (argc < 2) {
    std::fputs(app.help().c_str(), stdout);
    return {std::nullopt, 0};
  }
  const std::vector<std::string> after_dashes = CutAfterDashes(argc, argv);
  if (const auto status = StatusWithoutACommand(app, argc, argv)) {
    return {std::nullopt, *status};
  }
  if (*completion || *man_page) {
    const CommandTable table = TableOf(app);
    std::fputs((*completion ? CompletionScript(table, shell) : ManPage(table)).c_str(), stdout);
    return {std::nullopt, 0};
  }
  out.options.format = out.options.json ? "jsonl" : out.options.format;
  attempt.options.command = after_dashes;
  fit.options.command = after_dashes;
  return ChosenOf(run, why, runs, prune, explain, inspect, doctor, hook, kernel, attach, watch, notify, words, report, out, serve,
                  top, attempt, fit);
}

}  // namespace whystop

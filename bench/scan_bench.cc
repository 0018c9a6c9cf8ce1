// How fast a log is read: plain read, signatures only, signatures with metrics, and ripgrep with
// the same patterns. Interleaved in one run, best CPU time of several rounds. Usage: scan_bench
// [MIB] [ROUNDS] [FILE]

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "scan/make_log.h"
#include "text/log_reader.h"
#include "text/signature_scanner.h"

namespace {

using whystop::Signature;

double CpuSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

template <typename Take>
void ReadAll(const std::string& path, Take take) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  std::vector<char> buffer(256 << 10);
  for (ssize_t got = 0; (got = ::read(file, buffer.data(), buffer.size())) > 0;) {
    take(std::string_view(buffer.data(), static_cast<std::size_t>(got)));
  }
  ::close(file);
}

struct Ignore : whystop::EventSink {
  void Push(const whystop::Event&) override { ++events; }
  std::int64_t events = 0;
};

struct Hits : whystop::SignatureScanner::Sink {
  void OnMatch(std::string_view, const std::vector<whystop::SignatureMatcher::Match>&) override {
    ++lines;
  }
  std::int64_t lines = 0;
};

/// The patterns as ripgrep wants them. A whole-line row is left out: ripgrep sees the logger
/// prefix, we do not.
void WritePatterns(const std::string& path) {
  std::ofstream out(path);
  for (const Signature& row : whystop::AllSignatures()) {
    if (row.kind == Signature::Kind::kWholeLine) {
      continue;
    }
    for (const char letter : row.pattern) {
      if (row.kind == Signature::Kind::kLiteral &&
          std::strchr("\\.+*?()|[]{}^$#&-~", letter) != nullptr) {
        out << '\\';
      }
      out << letter;
    }
    out << '\n';
  }
}

/// CPU seconds of `rg --no-unicode -c -f patterns log`; negative: there is no ripgrep.
double Ripgrep(const std::string& patterns, const std::string& log) {
  const pid_t child = ::fork();
  if (child == 0) {
    const int quiet = ::open("/dev/null", O_WRONLY);
    ::dup2(quiet, 1);
    ::execlp("rg", "rg", "--no-unicode", "--no-config", "-j1", "-a", "-c", "-f", patterns.c_str(),
             log.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  rusage used{};
  ::wait4(child, &status, 0, &used);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1) {
    return -1;
  }
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct Contest {
  const char* name;
  std::function<double()> run;  // CPU seconds.
  std::vector<double> seconds;
};

void PrintTable(const std::vector<Contest>& contests, double gigabytes) {
  const double ripgrep = *std::min_element(contests[3].seconds.begin(), contests[3].seconds.end());
  for (const Contest& contest : contests) {
    const double best = *std::min_element(contest.seconds.begin(), contest.seconds.end());
    const double worst = *std::max_element(contest.seconds.begin(), contest.seconds.end());
    std::printf("%-24s %7.3f GB/s (worst round %.3f)", contest.name, gigabytes / best,
                gigabytes / worst);
    std::printf(ripgrep > 0 ? "  %5.2f x rg\n" : "\n", ripgrep / best);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t bytes = (argc > 1 ? std::atoll(argv[1]) : 1024) << 20;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 3;
  const std::string log = argc > 3 ? argv[3] : "/tmp/whystop-scan-bench.log";
  const std::string patterns = log + ".patterns";
  if (!whystop::bench::MakeLog(log, bytes, 1)) {
    std::perror("cannot write the log");
    return 2;
  }
  WritePatterns(patterns);
  const auto timed = [](const std::function<void()>& work) {
    const double start = CpuSeconds();
    work();
    return CpuSeconds() - start;
  };
  std::int64_t events = 0;
  std::int64_t lines = 0;
  std::uint64_t sum = 0;
  std::vector<Contest> contests;
  contests.push_back(
      {"plain read",
       [&] {
         return timed([&] {
           ReadAll(log, [&](std::string_view part) { sum += static_cast<unsigned char>(part[0]); });
         });
       },
       {}});
  contests.push_back({"signatures",
                      [&] {
                        return timed([&] {
                          Hits hits;
                          whystop::SignatureScanner scanner(whystop::SignatureMatcher::Shared(),
                                                            hits);
                          ReadAll(log, [&](std::string_view part) { scanner.Feed(part); });
                          scanner.Finish();
                          lines = hits.lines;
                        });
                      },
                      {}});
  contests.push_back(
      {"signatures and metrics",
       [&] {
         return timed([&] {
           Ignore ignore;
           whystop::LogReader reader("log", ignore, {.text_end = true});
           ReadAll(log, [&](std::string_view part) { reader.Feed(part, whystop::RunTime{}); });
           reader.Finish(whystop::RunTime{}, std::nullopt);
           events = ignore.events;
         });
       },
       {}});
  contests.push_back({"rg --no-unicode", [&] { return Ripgrep(patterns, log); }, {}});
  for (int round = 0; round < rounds; ++round) {
    for (Contest& contest : contests) {
      contest.seconds.push_back(contest.run());
    }
  }
  PrintTable(contests, static_cast<double>(bytes) * 1e-9);
  rusage own{};
  ::getrusage(RUSAGE_SELF, &own);
  std::printf("lines with a signature %lld, events %lld, peak memory %.1f MiB\n",
              static_cast<long long>(lines), static_cast<long long>(events),
              static_cast<double>(own.ru_maxrss) / 1024);
  std::remove(log.c_str());
  std::remove(patterns.c_str());
  return sum == 0 ? 2 : 0;
}

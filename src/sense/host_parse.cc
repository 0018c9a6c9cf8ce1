#include "sense/host_parse.h"

#include <array>

#include "sense/proc_text.h"

namespace whystop {
namespace {

struct Wanted {
  std::string_view key;
  std::optional<std::int64_t>* into;
};

/// Lines of "key number": fills in those that are wanted.
template <std::size_t N>
void FillKeyed(std::string_view text, const std::array<Wanted, N>& wanted, std::int64_t factor) {
  std::size_t missing = N;
  while (!text.empty() && missing > 0) {
    std::string_view line = TakeLine(text);
    const std::string_view key = TakeField(line);
    for (const Wanted& want : wanted) {
      if (key == want.key && !want.into->has_value()) {
        *want.into = Scaled(TakeNumber(line), factor);
        --missing;
        break;
      }
    }
  }
}

}  // namespace

HostMemory ParseMeminfo(std::string_view text) {
  HostMemory out;
  FillKeyed<4>(text,
               {{{"MemTotal:", &out.total_bytes},
                 {"MemAvailable:", &out.available_bytes},
                 {"SwapTotal:", &out.swap_total_bytes},
                 {"SwapFree:", &out.swap_free_bytes}}},
               1024);
  return out;
}

HostPaging ParseVmstat(std::string_view text) {
  HostPaging out;
  FillKeyed<4>(text,
               {{{"pswpin", &out.swap_in_pages},
                 {"pswpout", &out.swap_out_pages},
                 {"oom_kill", &out.oom_kills},
                 {"pgmajfault", &out.major_faults}}},
               1);
  return out;
}

// "cpu  user nice system idle iowait irq softirq steal guest guest_nice", then "cpu0 ...", ...
// Guest time is part of user time already.
HostCpu ParseHostStat(std::string_view text) {
  HostCpu out;
  std::int64_t cpus = 0;
  while (text.starts_with("cpu")) {
    std::string_view line = TakeLine(text);
    if (TakeField(line) != "cpu") {
      ++cpus;
      continue;
    }
    std::int64_t busy = 0;
    for (int column = 0; column < 8; ++column) {
      const auto ticks = TakeNumber(line);
      if (ticks && *ticks >= 0 && column != 3 && column != 4) {
        busy = SaturatingSum(busy, *ticks);
      }
      if (column == 3 && ticks) {
        out.busy_ticks = 0;  // The line is whole enough.
      }
    }
    if (out.busy_ticks) {
      out.busy_ticks = busy;
    }
  }
  if (cpus > 0) {
    out.cpus = cpus;
  }
  return out;
}

std::optional<std::int64_t> ParseLoadMilli(std::string_view text) {
  std::string_view line = TakeLine(text);
  return ParseDecimal(TakeField(line), 3);
}

// "  eth0: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop ..."
HostNetwork ParseNetDev(std::string_view text) {
  HostNetwork out;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || Trim(line.substr(0, colon)) == "lo") {
      continue;
    }
    line.remove_prefix(colon + 1);
    std::array<std::int64_t, 12> columns{};
    bool whole = true;
    for (std::int64_t& column : columns) {
      column = TakeNumber(line).value_or(-1);
      whole = whole && column >= 0;
    }
    if (!whole) {
      continue;
    }
    out.received_bytes = SaturatingSum(out.received_bytes.value_or(0), columns[0]);
    out.sent_bytes = SaturatingSum(out.sent_bytes.value_or(0), columns[8]);
    for (const std::size_t column : {2U, 3U, 10U, 11U}) {
      out.errors = SaturatingSum(out.errors.value_or(0), columns[column]);
    }
  }
  return out;
}

// "some avg10=0.12 avg60=0.10 avg300=0.06 total=53412", then the same with "full".
Pressure ParsePressure(std::string_view text) {
  Pressure out;
  while (!text.empty()) {
    std::string_view line = TakeLine(text);
    const std::string_view kind = TakeField(line);
    std::string_view share = TakeField(line);
    if (!share.starts_with("avg10=")) {
      continue;
    }
    share.remove_prefix(6);
    if (kind == "some") {
      out.some = ParseDecimal(share, 2);
    } else if (kind == "full") {
      out.full = ParseDecimal(share, 2);
    }
  }
  return out;
}

}  // namespace whystop

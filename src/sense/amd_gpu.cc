#include "sense/amd_gpu.h"

#include <dirent.h>

#include <memory>

#include "base/fd.h"
#include "sense/proc_text.h"

namespace whystop {
namespace {

constexpr int kCardsMax = 64;

std::string Text(const std::string& path) {
  const auto text = ReadFile(path, 4096);
  return text ? std::string(Trim(*text)) : std::string();
}

std::optional<std::int64_t> Number(const std::string& path) {
  return ParseWhole<std::int64_t>(Text(path));
}

/// The card's hwmon folder, whose number changes from boot to boot.
std::string MonitorFolder(const std::string& device) {
  const std::string parent = device + "/hwmon";
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(::opendir(parent.c_str()), &::closedir);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): this DIR belongs to this call alone
  while (const dirent* entry = listing != nullptr ? ::readdir(listing.get()) : nullptr) {
    if (std::string_view(entry->d_name).starts_with("hwmon")) {
      return parent + "/" + entry->d_name;
    }
  }
  return "";
}

}  // namespace

std::vector<GpuFacts> ReadAmdGpus(const std::string& sys_root) {
  std::vector<GpuFacts> out;
  for (int card = 0; card < kCardsMax; ++card) {
    const std::string name = "card" + std::to_string(card);
    const std::string device = sys_root + "/class/drm/" + name + "/device";
    if (Text(device + "/vendor") != "0x1002") {
      continue;
    }
    GpuFacts facts;
    facts.index = card;
    const std::string unique = Text(device + "/unique_id");
    facts.uuid = unique.empty() ? name : unique;
    facts.name = Text(device + "/product_name");
    facts.memory_used_bytes = Number(device + "/mem_info_vram_used");
    facts.memory_total_bytes = Number(device + "/mem_info_vram_total");
    facts.utilisation_percent = Number(device + "/gpu_busy_percent");
    const std::string monitor = MonitorFolder(device);
    if (const auto milli_celsius = Number(monitor + "/temp1_input");
        !monitor.empty() && milli_celsius) {
      facts.temperature_celsius = *milli_celsius / 1000;
    }
    if (const auto microwatts = Number(monitor + "/power1_average");
        !monitor.empty() && microwatts) {
      facts.power_milliwatts = *microwatts / 1000;
    }
    out.push_back(std::move(facts));
  }
  return out;
}

}  // namespace whystop

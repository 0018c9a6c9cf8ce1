#pragma once

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

#include "model/collect_events.h"
#include "wire/ring_reader.h"
#include "wire/slot_decoder.h"

/// Helpers of the wire's and the client's tests.
namespace whystop {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "whystop-wire-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  const std::string& path() const { return path_; }
  std::vector<std::string> Files() const {
    std::vector<std::string> files;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      files.push_back(entry.path().string());
    }
    std::sort(files.begin(), files.end());
    return files;
  }
  std::string OnlyFile() const {
    const auto files = Files();
    return files.size() == 1 ? files[0] : "";
  }

 private:
  std::string path_;
};

/// What a new decoder makes of everything that the reader has to give now.
inline CollectEvents DecodeAll(RingReader& reader) {
  CollectEvents events;
  SlotDecoder decoder;
  reader.Drain([&](std::string_view slots) {
    decoder.Feed(reader.header().pid, std::chrono::seconds(1), slots, events);
  });
  return events;
}

inline void FlipByte(const std::string& path, std::size_t place) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(place));
  const int byte = file.get();
  file.seekp(static_cast<std::streamoff>(place));
  file.put(static_cast<char>(byte ^ 0x10));
}

}  // namespace whystop

#include "import/split_folder.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace whystop {
namespace {

constexpr std::array<std::string_view, 5> kHeldOutFolders = {"validation", "val", "valid", "eval",
                                                             "test"};
constexpr std::array<std::string_view, 4> kInnerFolders = {"files", "logs", "tb", "tensorboard"};

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

template <std::size_t N>
bool Contains(const std::array<std::string_view, N>& set, std::string_view word) {
  return std::find(set.begin(), set.end(), word) != set.end();
}

bool IsInner(const std::string& name) {
  return name == "train" || Contains(kHeldOutFolders, name) || Contains(kInnerFolders, name) ||
         name.starts_with("checkpoint-");
}

}  // namespace

std::string SplitOfFolder(std::string_view folder) {
  const std::string name = Lower(std::filesystem::path(folder).filename().string());
  if (name == "train") {
    return "train/";
  }
  return Contains(kHeldOutFolders, name) ? "validation/" : "";
}

std::string RunFolderOf(std::string_view file_path) {
  std::filesystem::path folder = std::filesystem::path(file_path).parent_path();
  while (IsInner(Lower(folder.filename().string())) && folder.has_parent_path() &&
         folder != folder.parent_path()) {
    folder = folder.parent_path();
  }
  return folder.string();
}

}  // namespace whystop

#include "look/python_stacks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/fd.h"
#include "look/elf_symbol.h"
#include "look/line_table.h"
#include "look/memory_map.h"
#include "look/python_layout.h"
#include "look/python_text.h"
#include "look/remote_memory.h"

namespace whystop {
namespace {

constexpr std::size_t kThreadsMax = 1024;
constexpr std::size_t kFramesMax = 400;
constexpr std::int64_t kTableMax = 1 << 20;
constexpr std::int32_t kLocalsMax = 256;

/// FNV-1a.
void Mix(std::uint64_t& hash, const void* data, std::size_t bytes) {
  constexpr std::uint64_t kPrime = 1099511628211U;
  for (std::size_t i = 0; i < bytes; ++i) {
    hash = (hash ^ static_cast<const unsigned char*>(data)[i]) * kPrime;
  }
}
constexpr std::uint64_t kHashStart = 14695981039346656037U;

/// What one code object says, read once a look.
struct CodeFacts {
  std::string file;
  std::string name;
  std::string lines;
  std::int32_t first_line = 0;
  std::int32_t locals = 0;
};

/// How the keys of a dictionary begin, from 3.11 on; an index and the entries follow.
struct DictionaryKeys {
  static constexpr std::uint8_t kLog2IndexBytesMax = 24;

  std::int64_t references;
  std::uint8_t log2_size;
  std::uint8_t log2_index_bytes;
  std::uint8_t kind;
  std::uint32_t version;
  std::int64_t usable;
  std::int64_t entries;
};

class StackReader {
 public:
  StackReader(const RemoteMemory& memory, const PythonLayout& layout)
      : memory_(memory), layout_(layout) {}

  void ReadInterpreter(std::uint64_t interpreter, std::uint64_t runtime, PythonStacks& out) {
    const std::uint64_t holder = GilHolder(interpreter, runtime);
    std::uint64_t thread = Pointer(interpreter + layout_.threads_head);
    while (thread != 0 && out.threads.size() < kThreadsMax) {
      out.threads.push_back(ReadThread(thread));
      out.threads.back().holds_gil = thread == holder;
      thread = Pointer(thread + layout_.thread_next);
    }
  }

  /// The thread with this number; where none has it, the interpreter's first, which is the last of
  /// the list. A forked child has its parent's number for the thread that forked.
  void ReadOneThread(std::uint64_t interpreter, std::int64_t tid, PythonStacks& out) {
    std::uint64_t thread = Pointer(interpreter + layout_.threads_head);
    std::uint64_t last = 0;
    for (std::size_t i = 0; thread != 0 && i < kThreadsMax; ++i) {
      last = thread;
      if (ReadTid(thread) == tid) {
        break;
      }
      thread = Pointer(thread + layout_.thread_next);
    }
    if (last != 0) {
      out.threads.push_back(ReadThread(last));
    }
  }

 private:
  std::uint64_t Pointer(std::uint64_t address) const {
    return memory_.Value<std::uint64_t>(address).value_or(0);
  }

  std::uint64_t GilHolder(std::uint64_t interpreter, std::uint64_t runtime) const {
    if (layout_.free_threaded) {
      return 0;
    }
    const std::uint64_t base = layout_.minor < 12    ? runtime
                               : layout_.minor == 12 ? Pointer(interpreter + layout_.gil)
                                                     : interpreter;
    const auto locked = memory_.Value<std::int32_t>(base + layout_.gil_locked);
    return base != 0 && locked && *locked == 1 ? Pointer(base + layout_.gil_holder) : 0;
  }

  PythonThread ReadThread(std::uint64_t thread) {
    PythonThread out;
    out.tid = ReadTid(thread);
    out.place = out.variables = kHashStart;
    std::uint64_t frame = Pointer(thread + layout_.thread_frame);
    if (layout_.minor == 11 || layout_.minor == 12) {
      frame = Pointer(frame + layout_.c_frame_current);
    }
    for (std::size_t depth = 0; frame != 0 && depth < kFramesMax; ++depth) {
      ReadFrame(frame, out);
      frame = Pointer(frame + layout_.frame_back);
    }
    std::reverse(out.frames.begin(), out.frames.end());
    return out;
  }

  std::int64_t ReadTid(std::uint64_t thread) const {
    if (layout_.native_thread_id != 0) {
      return static_cast<std::int64_t>(Pointer(thread + layout_.native_thread_id));
    }
    // glibc on 64-bit machines keeps the number that the kernel knows here, since 2.4.
    constexpr std::uint64_t kTidInPthread = 720;
    const std::uint64_t pthread = Pointer(thread + layout_.thread_id);
    return memory_.Value<std::int32_t>(pthread + kTidInPthread).value_or(0);
  }

  void ReadFrame(std::uint64_t frame, PythonThread& out) {
    constexpr std::uint8_t kOwnedByC = 3;
    if (layout_.frame_owner != 0 && layout_.minor >= 12 &&
        memory_.Value<std::uint8_t>(frame + layout_.frame_owner).value_or(0) >= kOwnedByC) {
      return;  // Stands for C code between two Python calls.
    }
    constexpr std::uint64_t kTagBits = 3;
    const std::uint64_t code = Pointer(frame + layout_.frame_code) & ~kTagBits;
    const CodeFacts* facts = ReadCode(code);
    if (facts == nullptr) {
      return;
    }
    const std::int64_t offset = OffsetOf(frame, code);
    const bool innermost = out.frames.empty();
    out.frames.push_back({.file = facts->file,
                          .line = LineAt(layout_.minor, facts->lines, facts->first_line, offset),
                          .function = facts->name,
                          .source = {},
                          .users_own = IsUsersOwn(facts->file)});
    Mix(out.place, &code, sizeof(code));
    if (!innermost) {  // A loop of one function goes round in its innermost frame.
      Mix(out.place, &offset, sizeof(offset));
    }
    MixVariables(frame, *facts, out.variables);
  }

  /// Bytes from the start of the code to the instruction that runs.
  std::int64_t OffsetOf(std::uint64_t frame, std::uint64_t code) const {
    if (layout_.code_instructions == 0) {
      const auto last = memory_.Value<std::int32_t>(frame + layout_.frame_instruction).value_or(0);
      return layout_.minor >= 10 ? std::int64_t{last} * 2 : last;
    }
    return static_cast<std::int64_t>(Pointer(frame + layout_.frame_instruction) - code -
                                     layout_.code_instructions);
  }

  /// The variables themselves and the first words of what they point to: a counter that is raised,
  /// a list that grows and a tensor that is replaced all show here.
  void MixVariables(std::uint64_t frame, const CodeFacts& facts, std::uint64_t& hash) const {
    if (facts.name == "<module>") {
      MixModule(Pointer(frame + layout_.frame_globals), hash);
      return;
    }
    for (std::int32_t i = 0; i < std::min(facts.locals, kLocalsMax); ++i) {
      const std::uint64_t value =
          Pointer(frame + layout_.frame_locals + static_cast<std::uint64_t>(i) * sizeof(value));
      Mix(hash, &value, sizeof(value));
      const std::uint64_t type = layout_.object_head - sizeof(value);  // Without the references.
      const auto words =
          memory_.Value<std::array<std::uint64_t, 3>>((value & ~std::uint64_t{3}) + type);
      if (value != 0 && words) {
        Mix(hash, words->data(), sizeof(*words));
      }
    }
  }

  /// The variables of a module: the dictionary's count and version, which each change raises; from
  /// 3.14 on it has no version, and the table of its names and values is taken.
  void MixModule(std::uint64_t dictionary, std::uint64_t& hash) const {
    const std::uint64_t at = dictionary + layout_.object_head;
    const auto words = memory_.Value<std::array<std::uint64_t, 3>>(at);
    if (!words) {
      return;
    }
    Mix(hash, words->data(), 2 * sizeof(std::uint64_t));
    const auto keys = layout_.minor < 14 ? std::nullopt : memory_.Value<DictionaryKeys>((*words)[2]);
    if (!keys || keys->log2_index_bytes > DictionaryKeys::kLog2IndexBytesMax || keys->entries < 0) {
      return;
    }
    const std::uint64_t table =
        (*words)[2] + sizeof(DictionaryKeys) + (std::uint64_t{1} << keys->log2_index_bytes);
    constexpr std::int64_t kEntriesMax = 4096;
    const std::uint64_t words_an_entry = keys->kind == 0 ? 3 : 2;  // With a hash where not all are text.
    const auto entries = memory_.ReadBytes(
        table, static_cast<std::size_t>(std::min(keys->entries, kEntriesMax)) * words_an_entry *
                   sizeof(std::uint64_t));
    if (entries) {
      Mix(hash, entries->data(), entries->size());
    }
  }

  const CodeFacts* ReadCode(std::uint64_t code) {
    const auto known = codes_.find(code);
    if (known != codes_.end()) {
      return known->second ? &*known->second : nullptr;
    }
    std::optional<CodeFacts>& slot = codes_[code];
    CodeFacts facts;
    const auto first_line = memory_.Value<std::int32_t>(code + layout_.code_first_line);
    const auto file = first_line
                          ? ReadPythonText(memory_, layout_, Pointer(code + layout_.code_file))
                          : std::nullopt;
    const auto name =
        file ? ReadPythonText(memory_, layout_, Pointer(code + layout_.code_name)) : std::nullopt;
    if (!name) {
      return nullptr;
    }
    facts.file = *file;
    facts.name = *name;
    facts.first_line = *first_line;
    facts.locals = memory_.Value<std::int32_t>(code + layout_.code_locals).value_or(0);
    const std::uint64_t lines = Pointer(code + layout_.code_lines);
    const auto size = memory_.Value<std::int64_t>(lines + layout_.object_head).value_or(0);
    if (size > 0 && size < kTableMax) {
      constexpr std::uint64_t kSizeAndHash = 16;
      facts.lines =
          memory_
              .ReadBytes(lines + layout_.object_head + kSizeAndHash, static_cast<std::size_t>(size))
              .value_or("");
    }
    slot = std::move(facts);
    return &*slot;
  }

  const RemoteMemory& memory_;
  const PythonLayout& layout_;
  std::map<std::uint64_t, std::optional<CodeFacts>> codes_;
};

/// Where _PyRuntime stands, and the version that the names of the interpreter's files tell.
struct FoundRuntime {
  std::uint64_t address = 0;
  std::optional<int> minor;
};

std::optional<FoundRuntime> FindRuntime(pid_t pid, const std::string& maps) {
  const std::string its_files = fmt::format("/proc/{}/root", pid);  // Also in a container.
  std::optional<int> minor;
  std::optional<std::uint64_t> address;
  for (const MappedFile& file : ParseMaps(maps)) {
    const std::size_t slash = file.path.rfind('/');
    const std::string_view name = std::string_view(file.path).substr(slash + 1);
    const bool is_library = name.starts_with("libpython3");
    if (!minor) {
      minor = MinorInName(file.path);  // Also of the folder of the standard library.
    }
    if (address || file.offset != 0 || !(is_library || name.starts_with("python"))) {
      continue;
    }
    if (const auto symbol = FindElfSymbol(its_files + file.path, "_PyRuntime")) {
      address = file.start + *symbol;
      minor = MinorInName(name) ? MinorInName(name) : minor;
    }
  }
  return address ? std::optional(FoundRuntime{*address, minor}) : std::nullopt;
}

}  // namespace

PythonProcess::PythonProcess(pid_t pid) : pid_(pid) {
  const auto maps = ReadFile("/proc/" + std::to_string(pid) + "/maps", 4 << 20);
  if (!maps || maps->find("ython") == std::string::npos) {
    return;
  }
  if (const auto runtime = FindRuntime(pid, *maps)) {
    const RemoteMemory memory(pid);
    runtime_ = runtime->address;
    minor_ = runtime->minor;
    layout_ = ReadLayout(memory, runtime_, minor_);
    fault_ = memory.fault();
  }
}

PythonStacks PythonProcess::ReadStacks() const { return Read(/*all_threads=*/true); }

std::vector<Frame> PythonProcess::ReadMainStack() const {
  PythonStacks stacks = Read(/*all_threads=*/false);
  return stacks.threads.empty() ? std::vector<Frame>{} : std::move(stacks.threads.front().frames);
}

PythonStacks PythonProcess::Read(bool all_threads) const {
  PythonStacks out;
  if (runtime_ == 0) {
    return out;
  }
  const auto is_refused = [](int fault) { return fault == EPERM || fault == EACCES; };
  constexpr const char* kRefused = "the system does not let us read its memory (ptrace rules)";
  if (!layout_) {
    out.version = minor_ ? "3." + std::to_string(*minor_) : "unknown";
    out.unseen = is_refused(fault_) ? kRefused
                 : IsFreeThreaded(RemoteMemory(pid_), runtime_)
                     ? "this build of Python without the GIL is not known here"
                     : "this version of Python is not known here";
    return out;
  }
  const RemoteMemory memory(pid_);
  out.version = "3." + std::to_string(layout_->minor);
  out.finalizing = memory.Value<std::uint64_t>(runtime_ + layout_->finalizing).value_or(0) != 0;
  StackReader reader(memory, *layout_);
  auto interpreter = memory.Value<std::uint64_t>(runtime_ + layout_->interpreters_head);
  constexpr int kInterpretersMax = 64;
  for (int i = 0; interpreter && *interpreter != 0 && i < kInterpretersMax; ++i) {
    const auto next = memory.Value<std::uint64_t>(*interpreter + layout_->interpreter_next);
    if (all_threads) {
      reader.ReadInterpreter(*interpreter, runtime_, out);
    } else if (next.value_or(0) == 0) {  // New ones come in front: the program's own is the last.
      reader.ReadOneThread(*interpreter, pid_, out);
    }
    interpreter = next;
  }
  if (out.threads.empty()) {
    out.unseen = is_refused(memory.fault()) ? kRefused : "its memory could not be understood";
  }
  return out;
}

bool IsUsersOwn(const std::string& file) {
  for (const char* part : {"/site-packages/", "/dist-packages/", "/whystop_probe/", "/lib/python3",
                           "sitecustomize.py"}) {
    if (file.find(part) != std::string::npos) {
      return false;
    }
  }
  return !file.starts_with("<frozen") && !file.starts_with("<__array");
}

}  // namespace whystop

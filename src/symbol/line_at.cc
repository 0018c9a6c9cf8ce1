#include "symbol/line_at.h"

#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "symbol/byte_cursor.h"

namespace whystop {
namespace {

// Numbers of the DWARF standard, chapter 6.2 and 7.22.
enum Opcode : std::uint8_t { kCopy = 1, kAdvancePc, kAdvanceLine, kSetFile, kSetColumn, kNegate, kBlock, kConstAddPc, kFixedAdvancePc };
enum ExtendedOpcode : std::uint8_t { kEndSequence = 1, kSetAddress };
enum Content : std::uint64_t { kPath = 1, kDirectory = 2 };
enum Form : std::uint64_t { kData2 = 5, kData4 = 6, kData8 = 7, kString = 8, kBlockForm = 9, kData1 = 11, kStrp = 14, kUdata = 15, kData16 = 30, kLineStrp = 31 };

constexpr std::uint64_t kNamesMax = 1 << 16;

struct Name {
  std::string_view text;
  std::uint64_t directory = 0;
};

/// One unit of .debug_line: the names of its files, and the program that walks through addresses and lines.
class LineUnit {
 public:
  LineUnit(const ElfFile& file, ByteCursor unit, std::size_t offset_size) : file_(file), unit_(unit), offset_size_(offset_size) {}

  bool ReadHeader() {
    version_ = unit_.Take<std::uint16_t>();
    if (version_ < 2 || version_ > 5) {
      return false;
    }
    if (version_ >= 5) {
      unit_.Skip(2);  // Sizes of an address and of a segment selector.
    }
    ByteCursor header = unit_.Split(unit_.TakeSized(offset_size_));
    instruction_bytes_ = header.Take<std::uint8_t>();
    if (version_ >= 4) {
      header.Skip(1);  // Operations of an instruction, of machines that have several.
    }
    header.Skip(1);  // Whether a row begins a statement.
    line_base_ = header.Take<std::int8_t>();
    line_range_ = header.Take<std::uint8_t>();
    opcode_base_ = header.Take<std::uint8_t>();
    for (unsigned i = 1; i < opcode_base_; ++i) {
      operands_[i] = header.Take<std::uint8_t>();
    }
    if (version_ >= 5) {
      directories_ = ReadNames(header);
      files_ = ReadNames(header);
    } else {
      ReadOldNames(header);
    }
    return header.good() && line_range_ != 0;
  }

  std::optional<SourceLine> Find(std::uint64_t address) {
    Row row;
    std::optional<Row> before;
    while (unit_.left() > 0 && unit_.good()) {
      const bool emits = Step(row);
      if (!emits) {
        continue;
      }
      if (before && address >= before->address && address < row.address) {
        return SourceOf(*before);
      }
      before = row.ended ? std::nullopt : std::optional(row);
      row = row.ended ? Row() : row;
    }
    return std::nullopt;
  }

 private:
  struct Row {
    std::uint64_t address = 0;
    std::uint64_t file = 1;
    std::int64_t line = 1;
    bool ended = false;
  };

  /// Does one instruction. True: it makes a row.
  bool Step(Row& row) {
    const auto opcode = unit_.Take<std::uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned special = static_cast<unsigned>(opcode) - opcode_base_;
      row.address += static_cast<std::uint64_t>(special / line_range_) * instruction_bytes_;
      row.line += line_base_ + static_cast<int>(special % line_range_);
      return true;
    }
    switch (opcode) {
      case 0:
        return StepExtended(row);
      case kCopy:
        return true;
      case kAdvancePc:
        row.address += unit_.TakeUnsigned() * instruction_bytes_;
        return false;
      case kAdvanceLine:
        row.line += unit_.TakeSigned();
        return false;
      case kSetFile:
        row.file = unit_.TakeUnsigned();
        return false;
      case kConstAddPc:
        row.address += static_cast<std::uint64_t>((255U - opcode_base_) / line_range_) * instruction_bytes_;
        return false;
      case kFixedAdvancePc:
        row.address += unit_.Take<std::uint16_t>();
        return false;
      default:
        for (unsigned i = 0; i < operands_[opcode]; ++i) {
          unit_.TakeUnsigned();
        }
        return false;
    }
  }

  bool StepExtended(Row& row) {
    ByteCursor rest = unit_.Split(unit_.TakeUnsigned());
    switch (rest.Take<std::uint8_t>()) {
      case kEndSequence:
        row.ended = true;
        return true;
      case kSetAddress:
        row.address = rest.TakeSized(rest.left());
        return false;
      default:
        return false;
    }
  }

  std::vector<Name> ReadNames(ByteCursor& header) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> formats(header.Take<std::uint8_t>());
    for (auto& [content, form] : formats) {
      content = header.TakeUnsigned();
      form = header.TakeUnsigned();
    }
    std::vector<Name> names;
    const std::uint64_t count = header.TakeUnsigned();
    for (std::uint64_t i = 0; i < count && i < kNamesMax && header.good(); ++i) {
      Name name;
      for (const auto& [content, form] : formats) {
        std::uint64_t number = 0;
        const std::string_view text = ReadForm(header, form, number);
        name.text = content == kPath ? text : name.text;
        name.directory = content == kDirectory ? number : name.directory;
      }
      names.push_back(name);
    }
    return names;
  }

  std::string_view ReadForm(ByteCursor& header, std::uint64_t form, std::uint64_t& number) const {
    switch (form) {
      case kString:
        return header.TakeText();
      case kStrp:
        return TextAt(file_.Section(".debug_str"), header.TakeSized(offset_size_));
      case kLineStrp:
        return TextAt(file_.Section(".debug_line_str"), header.TakeSized(offset_size_));
      case kData1:
      case kData2:
      case kData4:
      case kData8:
        number = header.TakeSized(form == kData1 ? 1 : form == kData2 ? 2 : form == kData4 ? 4 : 8);
        return {};
      case kUdata:
        number = header.TakeUnsigned();
        return {};
      case kData16:
        header.Skip(16);
        return {};
      case kBlockForm:
        header.Skip(header.TakeUnsigned());
        return {};
      default:
        header.Skip(~std::uint64_t{0});  // Of a later standard: what follows cannot be found.
        return {};
    }
  }

  /// Before DWARF 5 both lists end with an empty name and count from 1; the folder of the compiler is left out.
  void ReadOldNames(ByteCursor& header) {
    directories_.emplace_back();
    for (std::string_view text = header.TakeText(); !text.empty(); text = header.TakeText()) {
      directories_.push_back({text, 0});
    }
    files_.emplace_back();
    for (std::string_view text = header.TakeText(); !text.empty(); text = header.TakeText()) {
      const std::uint64_t directory = header.TakeUnsigned();
      header.TakeUnsigned();  // When it was changed,
      header.TakeUnsigned();  // and how long it is.
      files_.push_back({text, directory});
    }
  }

  std::optional<SourceLine> SourceOf(const Row& row) const {
    if (row.file >= files_.size() || files_[row.file].text.empty() || row.line <= 0) {
      return std::nullopt;
    }
    const Name& name = files_[row.file];
    const std::string_view folder = name.directory < directories_.size() ? directories_[name.directory].text : std::string_view();
    const bool whole = name.text.starts_with('/') || folder.empty();
    return SourceLine{whole ? std::string(name.text) : std::string(folder) + "/" + std::string(name.text), row.line};
  }

  const ElfFile& file_;
  ByteCursor unit_;
  std::size_t offset_size_;
  unsigned version_ = 0;
  std::uint8_t instruction_bytes_ = 1;
  int line_base_ = 0;
  unsigned line_range_ = 1;
  unsigned opcode_base_ = 1;
  std::array<std::uint8_t, 256> operands_{};
  std::vector<Name> directories_;
  std::vector<Name> files_;
};

}  // namespace

std::optional<SourceLine> LineAt(const ElfFile& file, std::uint64_t address) {
  ByteCursor section(file.Section(".debug_line"));
  while (section.left() > 0 && section.good()) {
    constexpr std::uint32_t kLong = 0xFFFFFFFF;  // Offsets of 64 bits follow.
    const auto size = section.Take<std::uint32_t>();
    const std::size_t offset_size = size == kLong ? 8 : 4;
    LineUnit unit(file, section.Split(size == kLong ? section.Take<std::uint64_t>() : size), offset_size);
    if (!unit.ReadHeader()) {
      continue;
    }
    if (auto line = unit.Find(address)) {
      return line;
    }
  }
  return std::nullopt;
}

}  // namespace whystop

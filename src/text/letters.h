#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace whystop {

/// Classes of bytes for the lexers, looked up instead of searched: a log has a byte to look at
/// every nanosecond.
enum LetterClass : std::uint8_t {
  kLetterDigit = 1,
  kLetterAlpha = 2,
  kLetterWord = 4,        // Digits, letters, underscore.
  kLetterMayStart = 8,    // Could be the first byte of a number: digit, sign, point, n, i, t.
  kLetterPartsKeys = 16,  // Ends what could be a key: comma, bar, semicolon, tab, braces.
  kLetterAfterKey = 32,   // Between a key and its number.
  kLetterBeforeKey = 64,  // Signs that do not belong to a key.
  kLetterSuspect = 128,   // Occurs in paths and code.
};

namespace letters_internal {

constexpr void Mark(std::array<std::uint8_t, 256>& table, std::string_view letters,
                    std::uint8_t bits) {
  for (const char letter : letters) {
    table[static_cast<unsigned char>(letter)] =
        static_cast<std::uint8_t>(table[static_cast<unsigned char>(letter)] | bits);
  }
}

constexpr std::array<std::uint8_t, 256> MakeTable() {
  std::array<std::uint8_t, 256> table{};
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::string_view kAlphas = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  Mark(table, kDigits, kLetterDigit | kLetterWord | kLetterMayStart);
  Mark(table, kAlphas, kLetterAlpha | kLetterWord);
  Mark(table, "_", kLetterWord);
  Mark(table, "+-.nNiIt", kLetterMayStart);
  Mark(table, ",|;\t{}", kLetterPartsKeys);
  Mark(table, " \t:=[(<'\"`~#>*@", kLetterAfterKey);
  Mark(table, " \t'\"`.,:;)]}>-*#=%!/\\&+$([{", kLetterBeforeKey);
  Mark(table, ".(@\\", kLetterSuspect);
  return table;
}

inline constexpr std::array<std::uint8_t, 256> kTable = MakeTable();

}  // namespace letters_internal

constexpr bool IsOf(char letter, std::uint8_t classes) {
  return (letters_internal::kTable[static_cast<unsigned char>(letter)] & classes) != 0;
}

}  // namespace whystop

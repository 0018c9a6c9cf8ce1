#include "text/wrapped_text.h"

#include <gtest/gtest.h>

#include <string>

#include "model/collect_events.h"
#include "text/log_reader.h"

namespace whystop {
namespace {

// As PowerShell writes it into a narrow console: records of standard error broken, standard output whole.
constexpr std::string_view kRecords =
    "a line of the program's own output, as long as it likes to be\r\n"
    "python : Traceback (most \r\n"
    "recent call last):\r\n"
    "At line:1 char:1\r\n"
    "+ python train.py > log\r\n"
    "    + CategoryInfo       \r\n"
    " \r\n"
    "  File \"C:\\work\\projects\\\r\n"
    "vision\\networks\\train.py\"\r\n"
    ", line 67, in <module>\r\n"
    "    main(configuration)\r\n"
    "  File \"C:\\work\\projects\\\r\n"
    "vision\\networks\\train.py\"\r\n"
    ", line 12, in main\r\n"
    "    fit()\r\n"
    "ValueError: Invalid CUDA \r\n"
    "'device=0' requested\r\n";

std::string Wide(std::string_view text) {
  std::string out = "\xFF\xFE";
  for (const char letter : text) {
    out += letter;
    out += '\0';
  }
  return out;
}

TEST(WrappedText, RecordsOfPowerShellArePutTogether) {
  EXPECT_EQ(FindWrapWidth(kRecords), 25u);
  const std::string bytes = Wide(kRecords);
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, bytes.size()}) {
    CollectEvents kept;
    LogReader reader("log", kept, {.text_end = true});
    for (std::size_t at = 0; at < bytes.size(); at += chunk) {
      reader.Feed(std::string_view(bytes).substr(at, chunk), RunTime{});
    }
    reader.Finish(RunTime{}, std::nullopt);
    const auto exceptions = kept.All<ExceptionSeen>();
    ASSERT_EQ(exceptions.size(), 1u);
    EXPECT_EQ(exceptions[0].type, "ValueError");
    EXPECT_EQ(exceptions[0].message, "Invalid CUDA 'device=0' requested");
    ASSERT_EQ(exceptions[0].frames.size(), 2u);
    EXPECT_EQ(exceptions[0].frames[1].file, "C:\\work\\projects\\vision\\networks\\train.py");
    EXPECT_EQ(exceptions[0].frames[1].line, 12);
    EXPECT_EQ(exceptions[0].last_line, 16);  // As an editor counts it.
  }
}

TEST(WrappedText, OtherTextIsLeftAsItIs) {
  EXPECT_EQ(FindWrapWidth("aaaa bbbb cccc dddd\naaaa bbbb cccc dddd\naaaa bbbb cccc dddd\n"), 0u);
  EXPECT_FALSE(GoesOnInNextLine("short ", "word", 40));
  EXPECT_TRUE(GoesOnInNextLine("short but for the ", "nextwordthatdoesnotfitin", 40));
}

}  // namespace
}  // namespace whystop

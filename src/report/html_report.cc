#include "report/html_report.h"

#include "base/check.h"

namespace whystop {

extern const std::string_view kPageOfTheWeb;  // src/report/page.html, made by web/build.mjs.

namespace {

constexpr std::string_view kDataPlace = "{\"place\":\"of the data\"}";
constexpr std::string_view kConnectPlace = "connect-src 'none'";

/// Inside a script element only "<" can end it or open a comment: as an escape it is the same JSON.
void AppendForScript(std::string_view json, std::string& out) {
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
}

std::string Fill(std::string_view page, std::string_view data) {
  const std::size_t place = page.find(kDataPlace);
  WS_CHECK(place != std::string_view::npos, "the page has a place for the data");
  std::string out;
  out.reserve(page.size() + data.size() + data.size() / 16);
  out += page.substr(0, place);
  AppendForScript(data, out);
  out += page.substr(place + kDataPlace.size());
  return out;
}

}  // namespace

std::string RenderHtml(const std::vector<std::string>& views) {
  std::string data = "{\"runs\":[";
  for (const std::string& view : views) {
    data += (data.back() == '[' ? "" : ",") + view;
  }
  return Fill(kPageOfTheWeb, data + "]}");
}

std::string RenderLivePage() {
  std::string page = Fill(kPageOfTheWeb, "{\"live\":true}");
  const std::size_t place = page.find(kConnectPlace);
  WS_CHECK(place != std::string::npos, "the page has a policy");
  page.replace(place, kConnectPlace.size(), "connect-src 'self'");
  return page;
}

}  // namespace whystop

#include "serve/http_request.h"

#include <gtest/gtest.h>

namespace whystop {
namespace {

int StatusOf(std::string_view head) {
  const auto parsed = ParseRequest(head);
  const int* status = std::get_if<int>(&parsed);
  return status == nullptr ? 200 : *status;
}

TEST(ParseRequest, ReadsPathQueryAndTheHeadersWeNeed) {
  const auto parsed = ParseRequest(
      "GET /api/run?id=a%20b&x HTTP/1.1\r\nHost: localhost:1\r\nCOOKIE: a=1; whystop_token=t\r\n"
      "Authorization:\t Bearer z ");
  const auto& request = std::get<HttpRequest>(parsed);
  EXPECT_EQ(request.path, "/api/run");
  EXPECT_EQ(request.query.at("id"), "a b");
  EXPECT_EQ(request.query.at("x"), "");
  EXPECT_EQ(request.host, "localhost:1");
  EXPECT_EQ(request.authorization, "Bearer z");
  EXPECT_EQ(CookieOf(request.cookie, "whystop_token"), "t");
  EXPECT_EQ(CookieOf(request.cookie, "token"), "");
}

TEST(ParseRequest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(StatusOf("POST / HTTP/1.1\r\nHost: x"), 405);
  EXPECT_EQ(StatusOf("GET / HTTP/2.0"), 505);
  EXPECT_EQ(StatusOf("GET /"), 400);
  EXPECT_EQ(StatusOf("GET  HTTP/1.1"), 400);
  EXPECT_EQ(StatusOf("GET http://evil/ HTTP/1.1"), 400);
  EXPECT_EQ(StatusOf("GET /%0 HTTP/1.1"), 400);
  EXPECT_EQ(StatusOf("GET /%0a HTTP/1.1"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nHost: a\r\nHost: b"), 400);
  EXPECT_EQ(StatusOf("GET / HTTP/1.1\r\nno colon"), 400);
  EXPECT_EQ(StatusOf(""), 400);
}

/// Goal: no bytes make the parser read past their end. Method: every prefix of a request and every
/// single changed byte of it; run under the address sanitizer as all unit tests are.
TEST(ParseRequest, SurvivesEveryCutAndEveryChangedByte) {
  const std::string whole = "GET /a%41?b=%42&c HTTP/1.1\r\nHost: h\r\nCookie: a=b";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    StatusOf(std::string(whole, 0, size));
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = whole;
      changed[at] = static_cast<char>(byte);
      const int status = StatusOf(changed);
      EXPECT_TRUE(status == 200 || status == 400 || status == 405 || status == 505);
    }
  }
}

}  // namespace
}  // namespace whystop

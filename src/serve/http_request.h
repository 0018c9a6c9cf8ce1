#pragma once

#include <map>
#include <string>
#include <string_view>
#include <variant>

namespace whystop {

/// What a client asks for.
struct HttpRequest {
  bool head_only = false;                    // HEAD: the answer without its body.
  std::string path;                          // Without the query, decoded.
  std::map<std::string, std::string> query;  // Decoded.
  std::string host;                          // The Host header.
  std::string authorization;
  std::string cookie;
};

/// Reads the head of a request, up to and without its blank line: GET and HEAD of HTTP/1, nothing
/// else. The number is the status to answer what it is not.
std::variant<HttpRequest, int> ParseRequest(std::string_view head);

/// The value of one cookie; empty: not there.
std::string CookieOf(std::string_view header, std::string_view name);

}  // namespace whystop

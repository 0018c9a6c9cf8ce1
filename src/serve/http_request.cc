#include "serve/http_request.h"

#include <algorithm>
#include <optional>

namespace whystop {
namespace {

constexpr int kBadRequest = 400;
constexpr int kMethodNotAllowed = 405;
constexpr int kVersionNotSupported = 505;
constexpr std::size_t kQueryFieldsMax = 16;

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? std::optional(lower - 'a' + 10) : std::nullopt;
}

/// Percent-decodes. Nullopt: not encoded as it should be, or a control character came out.
std::optional<std::string> Decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      const auto high = i + 2 < text.size() ? HexDigit(text[i + 1]) : std::nullopt;
      const auto low = i + 2 < text.size() ? HexDigit(text[i + 2]) : std::nullopt;
      if (!high || !low) {
        return std::nullopt;
      }
      c = static_cast<char>(*high * 16 + *low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      return std::nullopt;
    }
    out += c;
  }
  return out;
}

bool ParseQuery(std::string_view query, std::map<std::string, std::string>& out) {
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view field = query.substr(0, end);
    const std::size_t equals = std::min(field.find('='), field.size());
    const auto name = Decode(field.substr(0, equals));
    const auto value = Decode(field.substr(std::min(equals + 1, field.size())));
    if (!name || !value || out.size() >= kQueryFieldsMax) {
      return false;
    }
    out[*name] = *value;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return true;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

std::string_view TakeLine(std::string_view& rest) {
  const std::size_t end = std::min(rest.find("\r\n"), rest.size());
  const std::string_view line = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 2, rest.size()));
  return line;
}

}  // namespace

std::variant<HttpRequest, int> ParseRequest(std::string_view head) {
  const std::string_view first = TakeLine(head);
  const std::size_t method_end = first.find(' ');
  const std::size_t target_end = first.rfind(' ');
  if (method_end == std::string_view::npos || target_end == method_end) {
    return kBadRequest;
  }
  const std::string_view method = first.substr(0, method_end);
  const std::string_view target = first.substr(method_end + 1, target_end - method_end - 1);
  if (first.substr(target_end + 1).substr(0, 7) != "HTTP/1.") {
    return kVersionNotSupported;
  }
  if (method != "GET" && method != "HEAD") {
    return kMethodNotAllowed;
  }
  HttpRequest request;
  request.head_only = method == "HEAD";
  const std::size_t question = std::min(target.find('?'), target.size());
  const auto path = Decode(target.substr(0, question));
  if (!path || path->empty() || path->front() != '/' ||
      !ParseQuery(target.substr(std::min(question + 1, target.size())), request.query)) {
    return kBadRequest;
  }
  request.path = *path;
  while (!head.empty()) {
    const std::string_view line = TakeLine(head);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return kBadRequest;
    }
    const std::string name = Lower(line.substr(0, colon));
    const std::string value(Trim(line.substr(colon + 1)));
    if (name == "host") {
      if (!request.host.empty()) {
        return kBadRequest;  // Two hosts: somebody tries to be read in two ways.
      }
      request.host = value;
    } else if (name == "authorization") {
      request.authorization = value;
    } else if (name == "cookie") {
      request.cookie = value;
    }
  }
  return request;
}

std::string CookieOf(std::string_view header, std::string_view name) {
  while (!header.empty()) {
    const std::size_t end = std::min(header.find(';'), header.size());
    const std::string_view pair = Trim(header.substr(0, end));
    const std::size_t equals = pair.find('=');
    if (equals != std::string_view::npos && pair.substr(0, equals) == name) {
      return std::string(pair.substr(equals + 1));
    }
    header.remove_prefix(std::min(end + 1, header.size()));
  }
  return "";
}

}  // namespace whystop

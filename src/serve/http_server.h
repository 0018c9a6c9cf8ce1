#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "serve/http_request.h"

namespace whystop {

struct HttpAnswer {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::shared_ptr<const std::string> body;
  std::vector<std::pair<std::string, std::string>> headers;
  bool events = false;  // A stream of "changed" events instead of a body.
};

struct HttpOptions {
  std::string address = "127.0.0.1";  // IPv4 or IPv6, as a number.
  std::uint16_t port = 0;             // 0: any that is free.
};

/// A small server: one thread moves bytes and never waits for anybody, another makes the answers.
/// One request a connection; requests and their number are bounded. An event stream carries the
/// newest state only, so a client that reads slowly has no queue that could grow.
/// docs/decisions/0014-the-page.md says why it is our own.
class HttpServer {
 public:
  using Handler = std::function<HttpAnswer(const HttpRequest&)>;

  /// `handler` is called from one thread of the server's own. kBusy: the port is taken.
  static Result<std::unique_ptr<HttpServer>> Start(const HttpOptions& options, Handler handler);
  virtual ~HttpServer() = default;

  virtual std::uint16_t port() const = 0;
  /// Tells every event stream that something changed.
  virtual void Announce() = 0;
  /// Does anybody want to be told?
  virtual bool HasListeners() const = 0;
};

}  // namespace whystop

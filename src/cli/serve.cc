#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>

#include "base/clock.h"
#include "base/fd.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/home.h"
#include "cli/served_runs.h"
#include "report/html_report.h"
#include "report/json_writer.h"
#include "serve/http_server.h"

namespace whystop {
namespace {

constexpr int kLookMs = 1000;
constexpr const char* kCookie = "whystop_token";

/// 128 random bits as text.
std::string MakeToken() {
  std::array<unsigned char, 16> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) {
    return "";
  }
  std::string text;
  for (const unsigned char byte : bits) {
    text += fmt::format("{:02x}", byte);
  }
  return text;
}

/// Takes as long for a near miss as for any other.
bool Same(std::string_view a, std::string_view b) {
  unsigned difference = a.size() == b.size() ? 0 : 1;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

bool IsLoopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1";
}

/// A page of another site that makes its name point here has that name in the Host header.
bool IsOurHost(std::string_view host) {
  const std::string_view name =
      host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, host.find(':'));
  return name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

HttpAnswer Plain(int status, std::string text, std::string type = "text/plain; charset=utf-8") {
  HttpAnswer answer;
  answer.status = status;
  answer.type = std::move(type);
  answer.body = std::make_shared<const std::string>(std::move(text));
  return answer;
}

/// Decides who may look, and finds what is asked for.
class Site {
 public:
  Site(ServedRuns& runs, std::string token, bool loopback)
      : runs_(runs),
        token_(std::move(token)),
        loopback_(loopback),
        page_(std::make_shared<const std::string>(RenderLivePage())) {}

  HttpAnswer operator()(const HttpRequest& request) {
    HttpAnswer answer = Find(request);
    // The page's own policy names the hash of its script; this one holds for every answer.
    for (const auto& [name, value] : {std::pair{"X-Content-Type-Options", "nosniff"},
                                      {"X-Frame-Options", "DENY"},
                                      {"Referrer-Policy", "no-referrer"},
                                      {"Cache-Control", "no-store"},
                                      {"Cross-Origin-Resource-Policy", "same-origin"}}) {
      answer.headers.emplace_back(name, value);
    }
    if (request.path != "/" || answer.status != 200) {
      answer.headers.emplace_back("Content-Security-Policy", "default-src 'none'; sandbox");
    }
    return answer;
  }

 private:
  HttpAnswer Find(const HttpRequest& request) {
    if (loopback_ && !IsOurHost(request.host)) {
      return Plain(403, "This server answers to localhost only.\n");
    }
    if (!token_.empty()) {
      const auto given = request.query.find("token");
      if (request.path == "/" && given != request.query.end() && Same(given->second, token_)) {
        HttpAnswer answer = Plain(303, "");
        answer.headers.emplace_back("Location", "/");
        answer.headers.emplace_back(
            "Set-Cookie", fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", kCookie, token_));
        return answer;
      }
      if (!Same(CookieOf(request.cookie, kCookie), token_) &&
          !Same(request.authorization, "Bearer " + token_)) {
        return Plain(401, "Open the address that 'whystop serve' printed: it holds the token.\n");
      }
    }
    if (request.path == "/") {
      HttpAnswer answer;
      answer.type = "text/html; charset=utf-8";
      answer.body = page_;
      return answer;
    }
    if (request.path == "/api/runs") {
      return Plain(200, runs_.ListJson(), "application/json");
    }
    if (request.path == "/api/run") {
      const auto id = request.query.find("id");
      HttpAnswer answer;
      answer.type = "application/json";
      answer.body = id == request.query.end() ? nullptr : runs_.RunJson(id->second);
      return answer.body ? answer : Plain(404, "No such run, or its recording cannot be read.\n");
    }
    if (request.path == "/api/events") {
      HttpAnswer answer;
      answer.type = "text/event-stream";
      answer.events = true;
      return answer;
    }
    if (request.path == "/metrics") {
      return Plain(200, runs_.Metrics(), "text/plain; version=0.0.4; charset=utf-8");
    }
    return Plain(404, "Not found.\n");
  }

  ServedRuns& runs_;
  const std::string token_;
  const bool loopback_;
  const std::shared_ptr<const std::string> page_;
};

Result<std::vector<std::string>> Chosen(const std::vector<std::string>& names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    const auto found = FindRecording(name);
    if (!found) {
      return found.error();
    }
    if (!*found) {
      return Error{Error::Code::kNotFound, "'" + name + "' is no recording",
                   "'whystop runs' lists them; a log is shown by 'whystop report'"};
    }
    paths.push_back(**found);
  }
  return paths;
}

void Tell(const ServeOptions& options, const std::string& url) {
  if (options.json) {
    JsonWriter out;
    out.Open();
    out.Text("url", url);
    out.Close();
    Print(out.text() + "\n");
  } else {
    Print(fmt::format("open {}\nCtrl-C ends it; the runs go on.\n", url));
  }
}

}  // namespace

int Serve(const ServeOptions& options) {
  const bool loopback = IsLoopback(options.address);
  if (!options.token && !loopback) {
    Complain("--no-token is for this machine only, not for " + options.address);
    return kExitUsage;
  }
  const auto chosen = Chosen(options.runs);
  if (!chosen) {
    Complain(chosen.error());
    return kExitUsage;
  }
  const std::string token = options.token ? MakeToken() : "";
  if (options.token && token.empty()) {
    Complain("no random numbers to be had for a token");
    return kExitUsage;
  }
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGINT);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);  // Before the server's threads are made.
  const Fd signal(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  ServedRuns runs(*chosen);
  Site site(runs, token, loopback);
  auto server = HttpServer::Start({options.address, options.port},
                                  [&site](const HttpRequest& request) { return site(request); });
  if (!server) {
    Complain(server.error());
    return kExitUsage;
  }
  const bool wide = options.address.find(':') != std::string::npos;
  Tell(options,
       fmt::format("http://{}{}{}:{}/{}{}", wide ? "[" : "", options.address, wide ? "]" : "",
                   (*server)->port(), token.empty() ? "" : "?token=", token));
  pollfd waiting{signal.get(), POLLIN, 0};
  auto looked_at = MonotonicNow();
  while (::poll(&waiting, 1, runs.ReadOn() ? 0 : kLookMs) <= 0) {
    if (MonotonicNow() - looked_at < std::chrono::milliseconds(kLookMs)) {
      continue;  // There is more to be read.
    }
    if ((*server)->HasListeners() && runs.Changed()) {
      (*server)->Announce();
    }
    looked_at = MonotonicNow();
  }
  return 0;
}

}  // namespace whystop

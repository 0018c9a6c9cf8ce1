#include "serve/http_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "base/fd.h"

namespace whystop {
namespace {

constexpr std::size_t kConnectionsMax = 400;
constexpr std::size_t kHeadBytesMax = 8 << 10;
constexpr std::chrono::seconds kPatience{20};  // With a client that neither asks nor reads.
constexpr std::chrono::seconds kSignOfLife{15};
constexpr int kTickMs = 1000;

std::string_view ReasonOf(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 303:
      return "See Other";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 431:
      return "Request Header Fields Too Large";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Internal Server Error";
  }
}

/// One client.
struct Connection {
  Fd socket;
  std::string in;
  std::string out;
  std::size_t sent = 0;
  bool asked = false;      // The request is whole; the answer is being made or sent.
  bool answered = false;   // All there will be is in `out`.
  bool events = false;     // Goes on with every change.
  std::uint64_t told = 0;  // The newest change this client was told.
  std::chrono::nanoseconds active{};
};

struct Job {
  int id = 0;
  HttpRequest request;
};
struct Done {
  int id = 0;
  bool head_only = false;
  HttpAnswer answer;
};

Result<Fd> Listen(const HttpOptions& options, std::uint16_t& port) {
  sockaddr_in6 wide{};
  sockaddr_in narrow{};
  const bool is_wide = options.address.find(':') != std::string::npos;
  auto* address =
      is_wide ? reinterpret_cast<sockaddr*>(&wide) : reinterpret_cast<sockaddr*>(&narrow);
  socklen_t size = is_wide ? sizeof(wide) : sizeof(narrow);
  narrow.sin_family = AF_INET;
  narrow.sin_port = htons(options.port);
  wide.sin6_family = AF_INET6;
  wide.sin6_port = htons(options.port);
  void* numbers = is_wide ? static_cast<void*>(&wide.sin6_addr) : &narrow.sin_addr;
  if (::inet_pton(is_wide ? AF_INET6 : AF_INET, options.address.c_str(), numbers) != 1) {
    return Error{Error::Code::kUsage, "'" + options.address + "' is no address",
                 "give it as a number: --listen 127.0.0.1"};
  }
  Fd socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const int yes = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  if (::bind(socket.get(), address, size) != 0 || ::listen(socket.get(), SOMAXCONN) != 0) {
    const int fault = errno;
    Error error = SystemError(
        fmt::format("cannot listen on {} port {}", options.address, options.port), fault);
    error.code = fault == EADDRINUSE ? Error::Code::kBusy : error.code;
    error.hint = "choose another port: --port 0 takes any that is free";
    return error;
  }
  ::getsockname(socket.get(), address, &size);
  port = ntohs(is_wide ? wide.sin6_port : narrow.sin_port);
  return socket;
}

class PollServer final : public HttpServer {
 public:
  PollServer(Fd listener, std::uint16_t port, Handler handler)
      : listener_(std::move(listener)),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        port_(port),
        handler_(std::move(handler)),
        mover_([this](const std::stop_token& stop) { Move(stop); }),
        maker_([this](const std::stop_token& stop) { Make(stop); }) {}

  ~PollServer() override {
    mover_.request_stop();
    maker_.request_stop();
    Wake();
    // Under the lock: the maker has either seen the wish to stop or sleeps, and then it is woken.
    const std::lock_guard lock(mutex_);
    ready_.notify_all();
  }

  std::uint16_t port() const override { return port_; }

  void Announce() override {
    ++newest_;
    Wake();
  }

  bool HasListeners() const override { return listeners_ > 0; }

 private:
  void Wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(wake_.get(), &one, sizeof(one));
  }

  /// Makes answers, one after the other.
  void Make(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      Job job;
      {
        std::unique_lock lock(mutex_);
        ready_.wait(lock, [&] { return stop.stop_requested() || !jobs_.empty(); });
        if (stop.stop_requested()) {
          return;
        }
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      Done done{job.id, job.request.head_only, {}};
      try {
        done.answer = handler_(job.request);
      } catch (const std::exception&) {
        done.answer.status = 500;
      }
      {
        const std::lock_guard lock(mutex_);
        done_.push_back(std::move(done));
      }
      Wake();
    }
  }

  /// Moves bytes until told to stop.
  void Move(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<pollfd> waiting{{listener_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
      std::vector<int> ids;
      int listeners = 0;
      for (const auto& [id, client] : clients_) {
        listeners += client.events ? 1 : 0;
        const bool writes = client.sent < client.out.size();
        waiting.push_back(
            {client.socket.get(), static_cast<short>(POLLIN | (writes ? POLLOUT : 0)), 0});
        ids.push_back(id);
      }
      listeners_ = listeners;
      ::poll(waiting.data(), waiting.size(), kTickMs);
      now_ = MonotonicNow();
      std::uint64_t woken = 0;
      [[maybe_unused]] const ssize_t got = ::read(wake_.get(), &woken, sizeof(woken));
      for (std::size_t i = 0; i < ids.size(); ++i) {
        if (waiting[i + 2].revents != 0) {
          Read(ids[i]);
        }
      }
      TakeAnswers();
      for (const int id : ids) {
        Serve(id);
      }
      Accept();
    }
  }

  void Accept() {
    while (true) {
      Fd socket(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (!socket) {
        return;
      }
      if (clients_.size() >= kConnectionsMax) {
        continue;  // Closed at once: the others are served.
      }
      Connection& client = clients_[++last_id_];
      client.socket = std::move(socket);
      client.active = now_;
    }
  }

  void Read(int id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) {
      return;
    }
    Connection& client = found->second;
    std::array<char, 4096> buffer{};
    const ssize_t size = ::recv(client.socket.get(), buffer.data(), buffer.size(), 0);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR)) {
      clients_.erase(found);
      return;
    }
    if (size < 0 || client.asked) {
      return;  // What comes behind the request is not read.
    }
    client.in.append(buffer.data(), static_cast<std::size_t>(size));
    const std::size_t end = client.in.find("\r\n\r\n");
    if (end == std::string::npos && client.in.size() <= kHeadBytesMax) {
      return;
    }
    client.asked = true;
    if (end == std::string::npos || end > kHeadBytesMax) {
      Answer(client, {.status = 431, .body = nullptr, .headers = {}}, false);
      return;
    }
    auto parsed = ParseRequest(std::string_view(client.in).substr(0, end));
    if (const int* status = std::get_if<int>(&parsed)) {
      Answer(client, {.status = *status, .body = nullptr, .headers = {}}, false);
      return;
    }
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back({id, std::move(std::get<HttpRequest>(parsed))});
    }
    ready_.notify_one();
  }

  void TakeAnswers() {
    std::vector<Done> done;
    {
      const std::lock_guard lock(mutex_);
      done.swap(done_);
    }
    for (const Done& one : done) {
      if (const auto found = clients_.find(one.id); found != clients_.end()) {
        Answer(found->second, one.answer, one.head_only);
      }
    }
  }

  void Answer(Connection& client, const HttpAnswer& answer, bool head_only) const {
    const std::string reason(ReasonOf(answer.status));
    const std::string_view body =
        answer.body ? std::string_view(*answer.body) : std::string_view(reason);
    client.out = fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nConnection: close\r\n",
                             answer.status, reason, answer.type);
    for (const auto& [name, value] : answer.headers) {
      client.out += fmt::format("{}: {}\r\n", name, value);
    }
    client.events = answer.events && !head_only;
    client.answered = !client.events;
    if (client.events) {
      client.out += "\r\n";
      return;
    }
    client.out += fmt::format("Content-Length: {}\r\n\r\n", body.size());
    if (!head_only) {
      client.out += body;
    }
  }

  /// Sends what there is, as far as the client takes it, and closes what is over.
  void Serve(int id) {
    const auto found = clients_.find(id);
    if (found == clients_.end()) {
      return;
    }
    Connection& client = found->second;
    const std::uint64_t newest = newest_;
    // The next event only when the one before is gone: nothing heaps up.
    if (client.events && client.sent == client.out.size()) {
      const bool quiet = now_ - client.active > kSignOfLife;
      if (client.told != newest || quiet) {
        client.out = client.told != newest ? fmt::format("event: changed\ndata: {}\n\n", newest)
                                           : std::string(": still here\n\n");
        client.sent = 0;
        client.told = newest;
      }
    }
    if (client.sent < client.out.size()) {
      const ssize_t size = ::send(client.socket.get(), client.out.data() + client.sent,
                                  client.out.size() - client.sent, MSG_NOSIGNAL);
      if (size > 0) {
        client.sent += static_cast<std::size_t>(size);
        client.active = now_;
      } else if (size < 0 && errno != EAGAIN && errno != EINTR) {
        clients_.erase(found);
        return;
      }
    }
    const bool over = client.answered && client.sent == client.out.size();
    const bool stuck =
        now_ - client.active > kPatience && (!client.asked || client.sent < client.out.size());
    if (over) {
      ::shutdown(client.socket.get(), SHUT_WR);
    }
    if (over || stuck) {
      clients_.erase(found);
    }
  }

  Fd listener_;
  Fd wake_;
  std::uint16_t port_;
  Handler handler_;
  std::map<int, Connection> clients_;  // Of the moving thread alone, as the two below.
  int last_id_ = 0;
  std::chrono::nanoseconds now_ = MonotonicNow();
  std::atomic<std::uint64_t> newest_{1};
  std::atomic<int> listeners_{0};
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Job> jobs_;
  std::vector<Done> done_;
  std::jthread mover_;
  std::jthread maker_;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::Start(const HttpOptions& options, Handler handler) {
  std::uint16_t port = 0;
  auto listener = Listen(options, port);
  if (!listener) {
    return listener.error();
  }
  return std::unique_ptr<HttpServer>(
      std::make_unique<PollServer>(std::move(*listener), port, std::move(handler)));
}

}  // namespace whystop

// SPDX-License-Identifier: Apache-2.0
#ifndef TNA_CLIENT_HPP
#define TNA_CLIENT_HPP

/*
 * tnad's control socket from C++17 or newer, without anything to link with. docs/api.md and openapi.yaml tell
 * what there is to ask; documents are JSON, read by whatever library one has:
 *
 *	tna::client::Daemon daemon;
 *	const auto status = daemon.get("/v1/status");
 *	if (!status.good())
 *		std::cerr << status.error << status.body << "\n";
 *
 *	daemon.follow("/v1/events/stream", [](std::string_view event) {
 *		std::cout << event << "\n";
 *		return true; // go on
 *	});
 */

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

namespace tna::client
{

/// What came back.
struct Answer {
	int status = 0;    ///< of HTTP; 0: nothing came, or not all of it
	std::string body;  ///< JSON; {"error": {"what", "cause", "hint"}} where the status is 400 or more
	std::string error; ///< why nothing came
	[[nodiscard]] bool good() const
	{
		return status >= 200 && status < 300;
	}
};

/// A text as a part of a path or of a query.
inline std::string encoded(std::string_view text)
{
	static constexpr std::string_view digits = "0123456789ABCDEF";
	static constexpr std::string_view plain =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
	std::string path;
	for (const char letter : text) {
		if (plain.find(letter) != std::string_view::npos) {
			path += letter;
			continue;
		}
		const auto byte = static_cast<unsigned char>(letter);
		path += '%';
		path += digits[byte >> 4U];
		path += digits[byte & 15U];
	}
	return path;
}

/// A tnad, by its socket. Each request has a connection of its own; safe to use from several threads.
class Daemon
{
      public:
	using Milliseconds = std::chrono::milliseconds;
	/// Takes a line of a stream; false: enough.
	using OnLine = std::function<bool(std::string_view)>;
	static constexpr Milliseconds patience{5000};
	/// What the kernel needs at most before a trace begins: it verifies programs.
	static constexpr Milliseconds verification{60000};

	explicit Daemon(std::string socket = "/run/tna/tnad.sock") : socket_(std::move(socket))
	{
	}

	[[nodiscard]] Answer get(const std::string &path) const
	{
		return request("GET", path);
	}
	/// The whole answer comes within `longest`. Custom modules take longer: the kernel verifies them.
	[[nodiscard]] Answer request(const std::string &method, const std::string &path,
				     const std::string &body = {}, Milliseconds longest = patience) const
	{
		Exchange exchange{std::chrono::steady_clock::now() + longest};
		if (!exchange.begin(socket_, method, path, body))
			return exchange.failed();
		while (exchange.more())
			;
		return exchange.finish();
	}

	/// Hands lines on as they come, until either side has enough. What is returned is good if lines came.
	Answer follow(const std::string &path, const OnLine &onLine, const std::string &method = "GET",
		      const std::string &body = {}) const
	{
		Exchange exchange{std::chrono::steady_clock::now() + verification};
		if (!exchange.begin(socket_, method, path, body))
			return exchange.failed();
		while (!exchange.headThere() && exchange.more())
			;
		if (exchange.streams())
			exchange.hurryNoMore();
		do {
			if (exchange.streams() && !exchange.handOn(onLine))
				break;
		} while (exchange.more());
		return exchange.finish();
	}

      private:
	class Exchange
	{
	      public:
		explicit Exchange(std::chrono::steady_clock::time_point until) : until_(until)
		{
		}
		~Exchange()
		{
			if (fd_ >= 0)
				::close(fd_);
		}
		Exchange(const Exchange &) = delete;
		Exchange &operator=(const Exchange &) = delete;

		bool begin(const std::string &socket, const std::string &method, const std::string &path,
			   const std::string &body)
		{
			sockaddr_un address{};
			address.sun_family = AF_UNIX;
			if (socket.size() >= sizeof(address.sun_path))
				return fail(ENAMETOOLONG);
			socket.copy(address.sun_path, socket.size());
			fd_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
			if (fd_ < 0 || !connect(address))
				return fail(errno == EAGAIN ? ETIMEDOUT : errno);
			const auto request =
				method + " " + path + " HTTP/1.1\r\nHost: tna\r\nConnection: close\r\n" +
				(method == "GET"
					 ? ""
					 : "Content-Length: " + std::to_string(body.size()) + "\r\n") +
				"\r\n" + body;
			return send(request);
		}

		/// False at the end.
		bool more()
		{
			char buffer[16384];
			for (;;) {
				if (!wait(POLLIN))
					return false;
				const auto got = ::recv(fd_, buffer, sizeof(buffer), MSG_DONTWAIT);
				if (got > 0) {
					received_.append(buffer, static_cast<std::size_t>(got));
					return understandHead();
				}
				if (got == 0)
					return false;
				if (errno != EAGAIN && errno != EINTR)
					return fail(errno);
			}
		}
		[[nodiscard]] bool headThere() const
		{
			return answer_.status != 0;
		}
		[[nodiscard]] bool streams() const
		{
			return answer_.good() && !length_;
		}
		void hurryNoMore()
		{
			until_.reset();
		}
		/// False if nobody wants more.
		bool handOn(const OnLine &onLine)
		{
			std::size_t begin = 0;
			bool wanted = true;
			for (auto end = received_.find('\n'); wanted && end != std::string::npos;
			     end = received_.find('\n', begin)) {
				wanted = onLine(std::string_view(received_).substr(begin, end - begin));
				begin = end + 1;
			}
			received_.erase(0, begin);
			return wanted;
		}
		Answer finish()
		{
			if (length_ && received_.size() < *length_) {
				answer_.status = 0;
				fail(ECONNRESET);
			}
			answer_.body = std::move(received_);
			return std::move(answer_);
		}
		Answer failed()
		{
			return std::move(answer_);
		}

	      private:
		bool fail(int code)
		{
			if (answer_.error.empty())
				answer_.error = std::strerror(code);
			return false;
		}
		/// Where too many wait to be accepted, who connects waits with them: no longer than
		/// `patience`.
		bool connect(const sockaddr_un &address)
		{
			for (;;) {
				const auto time = left(patience).count();
				timeval longest{};
				longest.tv_sec = static_cast<time_t>(time / 1000);
				longest.tv_usec = static_cast<suseconds_t>(time > 0 ? time % 1000 * 1000 : 1);
				if (::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &longest, sizeof(longest)) !=
				    0)
					return false;
				if (::connect(fd_, reinterpret_cast<const sockaddr *>(&address),
					      sizeof(address)) == 0)
					return true;
				if (errno != EINTR)
					return false;
			}
		}
		/// Until this exchange is to be over, or as long as this.
		[[nodiscard]] Milliseconds left(Milliseconds most) const
		{
			if (!until_)
				return most;
			const auto time = std::chrono::duration_cast<Milliseconds>(
				*until_ - std::chrono::steady_clock::now());
			return time.count() < 0 ? Milliseconds(0) : time < most ? time : most;
		}
		bool wait(short events)
		{
			for (;;) {
				pollfd watched{fd_, events, 0};
				const int found = ::poll(
					&watched, 1,
					until_ ? static_cast<int>(left(Milliseconds::max()).count()) : -1);
				if (found > 0)
					return true;
				if (found == 0)
					return fail(ETIMEDOUT);
				if (errno != EINTR)
					return fail(errno);
			}
		}
		bool send(std::string_view bytes)
		{
			while (!bytes.empty()) {
				if (!wait(POLLOUT))
					return false;
				const auto sent =
					::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
				// A refusal may come before all has been sent.
				if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
					return true;
				if (sent < 0 && errno != EAGAIN && errno != EINTR)
					return fail(errno);
				bytes.remove_prefix(sent > 0 ? static_cast<std::size_t>(sent) : 0);
			}
			return true;
		}
		/// Takes the head away once it is there. False where it is none, or nothing follows.
		bool understandHead()
		{
			if (headThere())
				return !length_ || received_.size() < *length_;
			const auto end = received_.find("\r\n\r\n");
			if (end == std::string::npos)
				return true;
			const auto head = received_.substr(0, end + 2);
			received_.erase(0, end + 4);
			const auto space = head.find(' ');
			if (head.compare(0, 5, "HTTP/") != 0 || space == std::string::npos ||
			    std::from_chars(head.data() + space + 1, head.data() + head.size(),
					    answer_.status)
					    .ec != std::errc{})
				return fail(EPROTO);
			if (const auto at = head.find("\r\nContent-Length: "); at != std::string::npos) {
				std::size_t length = 0;
				std::from_chars(head.data() + at + 18, head.data() + head.size(), length);
				length_ = length;
			}
			return !length_ || received_.size() < *length_;
		}

		int fd_ = -1;
		std::optional<std::chrono::steady_clock::time_point> until_;
		std::string received_;
		std::optional<std::size_t> length_;
		Answer answer_;
	};

	std::string socket_;
};

} // namespace tna::client

#endif

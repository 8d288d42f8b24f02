// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#ifndef TNA_FUNCTION_HPP
#define TNA_FUNCTION_HPP

// libtna-function (tna/function.h) for C++20: what is opened is closed.

#include <cerrno>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <tna/function.h>
#include <vector>

namespace tna
{

/// A network function in user space, for one thread.
class NetworkFunction
{
      public:
	/// Connects. error() tells whether it is of use: 0 or EAGAIN, where receive() goes on trying.
	explicit NetworkFunction(const std::string &name,
				 const tna_function_options &options = TNA_FUNCTION_OPTIONS,
				 unsigned most = 64)
	    : frames_(most)
	{
		tna_function *made = nullptr;
		error_ = -tna_function_open(&made, name.c_str(), &options);
		function_.reset(made);
	}

	[[nodiscard]] int error() const
	{
		return error_;
	}
	[[nodiscard]] std::string why() const
	{
		return function_ ? tna_function_why(function_.get()) : "";
	}
	[[nodiscard]] bool usable() const
	{
		return function_ && (error_ == 0 || error_ == EAGAIN);
	}

	/// Frames, the caller's until it has said what becomes of each. None: the time is over, or error() is
	/// not 0.
	[[nodiscard]] std::span<tna_frame> receive(std::chrono::milliseconds longest)
	{
		const int got = tna_function_receive(function_.get(), frames_.data(),
						     static_cast<unsigned>(frames_.size()),
						     static_cast<int>(longest.count()));
		error_ = got < 0 ? -got : 0;
		return {frames_.data(), got < 0 ? 0U : static_cast<std::size_t>(got)};
	}

	// What becomes of a frame that is not taken (no room, no such port) is that it is dropped.
	bool send(const tna_frame &frame, unsigned port)
	{
		return done(frame, tna_function_send(function_.get(), &frame, port));
	}
	bool giveBack(const tna_frame &frame)
	{
		return done(frame, tna_function_give_back(function_.get(), &frame));
	}
	void drop(const tna_frame &frame)
	{
		tna_function_drop(function_.get(), &frame);
	}

	[[nodiscard]] tna_function *get() const
	{
		return function_.get();
	}

      private:
	struct Close {
		void operator()(tna_function *function) const
		{
			tna_function_close(function);
		}
	};
	bool done(const tna_frame &frame, int error)
	{
		if (error != 0)
			drop(frame);
		return error == 0;
	}
	std::unique_ptr<tna_function, Close> function_;
	std::vector<tna_frame> frames_;
	int error_ = 0;
};

} // namespace tna

#endif

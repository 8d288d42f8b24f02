// SPDX-License-Identifier: Apache-2.0
// Prints what happens to ports, and says so if tnad is not there: what tna/client.hpp is used like.
//     c++ -std=c++17 events.cpp -o events && ./events
#include <tna/client.hpp>

#include <iostream>

int main(int argc, char **argv)
{
	const tna::client::Daemon daemon(argc > 1 ? argv[1] : "/run/tna/tnad.sock");
	const auto answer = daemon.follow("/v1/events/stream", [](std::string_view event) {
		std::cout << event << std::endl;
		return true;
	});
	if (answer.good())
		return 0;
	std::cerr << "tnad does not answer: " << answer.error << answer.body << "\n";
	return 1;
}

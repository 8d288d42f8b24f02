// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/tnad.hpp"

#include "base/file.hpp"
#include "tnactl/client.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
constexpr auto patience = std::chrono::seconds(60);
constexpr auto pollInterval = std::chrono::milliseconds(3);
/// veth ports are left alone by default.
constexpr const char* forXdp = "[ports]\nexclude_kinds = []\n";
constexpr const char* forTcx = "[ports]\ntcx = [\"*\"]\n";
/// For a way to the FDB that is asked for: the generator finishes its frames. An older daemon does not know
/// these settings.
constexpr const char* wayConfiguration = "finished_frames = [\"*\"]\n[limits]\nmax_stations = 262144\n"
                                         "[kernel]\nfdb = \"{}\"\n";
} // namespace

std::filesystem::path ownFolder() {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

Result<std::string> findTnad(const std::string& named) {
    if (!named.empty()) {
        if (::access(named.c_str(), X_OK) == 0)
            return named;
        return std::unexpected(Error{"cannot run " + named, errnoText(errno), "name the daemon with --tnad"});
    }
    const auto here = ownFolder();
    const std::array<std::filesystem::path, 4> places = {here / "../../controller/daemon/tnad",
                                                         here / "../sbin/tnad", "/usr/sbin/tnad",
                                                         "/usr/local/sbin/tnad"};
    for (const auto& place : places)
        if (::access(place.c_str(), X_OK) == 0)
            return place.lexically_normal().string();
    return std::unexpected(Error{"there is no tnad beside this program nor in /usr/sbin",
                                 {},
                                 "build or install it, or name it with --tnad"});
}

Result<Tnad> Tnad::start(const std::string& file, const TnadWay& way, unsigned connections) {
    const auto rules = connections == 0 ? "" : fmt::format("[limits]\nconnections = {}\n", connections);
    const auto fdb = way.fdb == "auto" ? "" : fmt::format(wayConfiguration, way.fdb);
    return startAs(file, (way.tcx ? forTcx : forXdp) + fdb + rules);
}

Result<Tnad> Tnad::startAs(const std::string& file, const std::string& configuration) {
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    const auto config = folder->path() + "/tnad.conf";
    if (auto written = writeFile(config, configuration); !written)
        return std::unexpected(written.error());
    auto process = Process::start(
        {file, "--config", config, "--socket", folder->path() + "/tnad.sock", "--log-level", "warning"},
        folder->path() + "/errors");
    if (!process)
        return std::unexpected(process.error());
    return Tnad{std::move(*folder), std::move(*process)};
}

Tnad::~Tnad() {
    process_.end(SIGTERM);
}

Error Tnad::ended() const {
    const auto words = lastLine(folder_.path() + "/errors");
    return {"tnad does not run here: " + process_.ending(), words.empty() ? "it said nothing" : words, {}};
}

Result<void> Tnad::waitAccelerated(std::size_t ports) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::size_t accelerated = 0;
    nlohmann::json why;
    while (process_.running()) {
        // Before it listens there is no answer.
        if (const auto status = get("/v1/status")) {
            const auto& all = (*status)["ports"];
            accelerated = static_cast<std::size_t>(std::ranges::count_if(
                all, [](const nlohmann::json& port) { return port["state"] == "accelerated"; }));
            if (accelerated >= ports)
                return {};
            for (const auto& port : all)
                if (port["state"] != "accelerated")
                    why = port["name"].get<std::string>() + ": " + port["why"].dump();
        }
        if (std::chrono::steady_clock::now() > deadline)
            return fail("tnad has accelerated {} of {} ports in {} s; {}", accelerated, ports,
                        patience.count(), why.is_null() ? lastLine(folder_.path() + "/errors") : why.dump());
        std::this_thread::sleep_for(pollInterval);
    }
    return std::unexpected(ended());
}

Result<nlohmann::json> Tnad::get(const std::string& path) {
    if (auto answer = ctl::Client(socket()).get(path))
        return std::move(*answer);
    else
        return std::unexpected(std::move(answer.error()));
}

Result<nlohmann::json> Tnad::put(const std::string& path, const std::string& body) {
    return ctl::Client(socket()).put(path, body);
}

Result<nlohmann::json> Tnad::port(const std::string& name) {
    auto answer = get("/v1/ports/" + name);
    if (!answer)
        return answer;
    return (*answer)["port"];
}

} // namespace tna::bench

// SPDX-License-Identifier: Apache-2.0
#include "config/config.hpp"

#include "base/file.hpp"
#include "base/tcp_address.hpp"
#include "config/reader.hpp"
#include "config/sockets.hpp"

#include <chrono>

namespace tna::config {

namespace {

constexpr std::size_t largest = std::size_t{1} << 20U; ///< file
/// With a pipe; read again at a signal, it keeps everything else waiting.
constexpr auto patience = std::chrono::seconds(2);
constexpr const char* socketWords =
    "a path of at most 107 bytes, of the socket for network functions beside it, too";
constexpr const char* listenWords =
    R"(an address and a port from 1 to 65535, for instance "127.0.0.1:9472" or "[::1]:9472")";

/// Who says which kinds are not for XDP, and nothing of tcx, has said it of both.
bool saysNothingOfTcx(const toml::table& file) {
    const auto* ports = file["ports"].as_table();
    return ports != nullptr && ports->contains("exclude_kinds") && !ports->contains("tcx_kinds");
}

bool isListen(const std::string& text) {
    return text.empty() || tcpAddressOf(text);
}
} // namespace

const std::vector<std::string>& logLevels() {
    static const std::vector<std::string> levels{"trace", "debug",    "info", "warning",
                                                 "error", "critical", "off"};
    return levels;
}

const std::vector<std::string>& fdbWays() {
    static const std::vector<std::string> ways{"auto", "in-place", "kfunc", "mirror"};
    return ways;
}

Result<Config> parseConfig(const std::string& written, const std::string& name) {
    const auto parsed = parseToml(written, name, "tnad.conf(5) shows every setting");
    if (!parsed)
        return std::unexpected(parsed.error());
    Config config;
    if (saysNothingOfTcx(*parsed))
        config.ports.tcxKinds.clear();
    Reader reader{name, "tnad.conf(5) shows every setting"};
    reader.table(
        *parsed, "",
        {{"ports",
          reader.section(
              "ports", {{"include", reader.patterns("include", config.ports.include)},
                        {"exclude", reader.patterns("exclude", config.ports.exclude)},
                        {"exclude_drivers", reader.patterns("exclude_drivers", config.ports.excludeDrivers)},
                        {"exclude_kinds", reader.patterns("exclude_kinds", config.ports.excludeKinds)},
                        {"tcx", reader.patterns("tcx", config.ports.tcx)},
                        {"tcx_kinds", reader.patterns("tcx_kinds", config.ports.tcxKinds)},
                        {"finished_frames", reader.patterns("finished_frames", config.ports.finishedFrames)},
                        {"trusted_drivers", reader.patterns("trusted_drivers", config.ports.trustedDrivers)},
                        {"rest", reader.boolean("rest", config.ports.rest)}})},
         {"kernel",
          reader.section(
              "kernel",
              {{"fdb", reader.choice("fdb", config.kernel.fdb, fdbWays())},
               {"refresh", reader.number("refresh", config.kernel.refresh, 10, 1U << 30U, false)},
               {"self_check", reader.number("self_check", config.kernel.selfCheck, 0, 1U << 20U, true)}})},
         {"daemon",
          reader.section(
              "daemon",
              {{"socket", reader.string("socket", config.daemon.socket, isControlSocket, socketWords)},
               {"socket_group", reader.string("socket_group", config.daemon.socketGroup)},
               {"change_group", reader.string("change_group", config.daemon.changeGroup)},
               {"log_level", reader.choice("log_level", config.daemon.logLevel, logLevels())}})},
         {"metrics", reader.section("metrics", {{"listen", reader.string("listen", config.metrics.listen,
                                                                         isListen, listenWords)}})},
         {"modules",
          reader.section("modules", {{"directory", reader.string("directory", config.modules.directory)}})},
         {"functions",
          reader.section("functions",
                         {{"directory", reader.string("directory", config.functions.directory)}})},
         {"limits",
          reader.section(
              "limits",
              {{"max_ports", reader.number("max_ports", config.limits.maxPorts, 2, 65535, false)},
               {"flows_per_cpu",
                reader.number("flows_per_cpu", config.limits.flowsPerCpu, 64, 1U << 19U, true)},
               {"many_routes", reader.number("many_routes", config.limits.manyRoutes, 0, UINT32_MAX, false)},
               {"destinations",
                reader.number("destinations", config.limits.destinations, 0, 1U << 24U, false)},
               {"connections", reader.number("connections", config.limits.connections, 0, 1U << 24U, false)},
               {"max_stations",
                reader.number("max_stations", config.limits.maxStations, 64, 1U << 24U, false)}})}});
    if (const auto error = reader.error())
        return std::unexpected(*error);
    return config;
}

Result<Config> loadConfig(const std::string& path) {
    auto text = readNamedFile(path, largest, patience);
    if (!text)
        return std::unexpected(
            std::move(text.error())
                .withHint("name a readable file with --config; without any, the defaults hold")
                .withCode(ExitCode::usage));
    return parseConfig(*text, path);
}

} // namespace tna::config

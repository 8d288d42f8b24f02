// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <random>

namespace tna::nat64 {

namespace {
Result<Settings> parse(const Options& options) {
    Settings settings;
    if (auto prefix = Prefix::parse(options.prefix); prefix)
        settings.addresses = {*prefix, options.allowPrivate};
    else
        return std::unexpected(prefix.error());
    for (const auto& text : options.pool)
        if (auto added = settings.pool.add(text); !added)
            return std::unexpected(added.error());
    for (const auto& text : options.maps)
        if (auto added = settings.maps.add(text); !added)
            return std::unexpected(added.error());
    for (const auto& text : options.inside) {
        const auto prefix = parsePrefix4(text);
        if (!prefix)
            return std::unexpected(prefix.error());
        settings.inside.push_back(*prefix);
    }
    if (!options.errorSource.empty()) {
        const auto address = parseAddress4(options.errorSource);
        if (!address)
            return std::unexpected(address.error());
        settings.errorSource = *address;
    }
    return settings;
}
} // namespace

Result<Settings> settingsOf(const Options& options) {
    auto settings = parse(options);
    if (!settings)
        return std::unexpected(std::move(settings.error()).withCode(ExitCode::usage));
    const bool stateless = !settings->maps.empty() || !settings->inside.empty();
    if (!settings->pool.empty() && (stateless || settings->errorSource))
        return std::unexpected(
            Error{"--pool is stateful, and --map, --inside and --error-source are not: one of both",
                  {},
                  {},
                  ExitCode::usage});
    if (settings->pool.empty() && !stateless)
        return std::unexpected(Error{"nothing to translate to",
                                     {},
                                     "give --pool, or for stateless translation --map or --inside",
                                     ExitCode::usage});
    settings->limits = {options.mtu6, options.dropZeroChecksum};
    settings->sessions.most = options.sessions;
    settings->sessions.filterAddress = options.filter;
    settings->answerUnbound = !options.givesBack();
    std::random_device random;
    settings->seed = std::uint64_t{random()} << 32U | random();
    return settings;
}

} // namespace tna::nat64

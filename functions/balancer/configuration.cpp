// SPDX-License-Identifier: Apache-2.0
#include "configuration.hpp"

#include "config/reader.hpp"
#include "maglev.hpp"
#include "packet.hpp"

namespace tna::balancer {

namespace {
constexpr const char* manual = "tna-balancer(1) shows every setting";
constexpr std::size_t mostServices = 1024;
constexpr std::size_t mostBackends = 1024;
constexpr unsigned fewestPlaces = 100; // for each backend: shares are right within about a per cent

const std::vector<std::string> protocols{"tcp", "udp"}, affinities{"connection", "address"},
    checks{"tcp", "http", "none"}, modes{"nat", "direct"};

/// Setters for what only the balancer has.
class SettingsReader : public config::Reader {
public:
    using Reader::Reader;

    Setter services(std::vector<ServiceSettings>& target) {
        return [this, &target](const toml::node& node) {
            each(node, "service", mostServices,
                 [&](const toml::table& read) { target.push_back(service(read)); });
        };
    }

private:
    template <typename Take>
    void each(const toml::node& node, const std::string& name, std::size_t most, Take&& take) {
        const auto* array = node.as_array();
        if (array == nullptr || array->empty() || array->size() > most)
            return expected(node, name, fmt::format("1 to {} tables, each written [[{}]]", most, name));
        for (const auto& item : *array)
            if (const auto* inner = item.as_table())
                take(*inner);
            else
                expected(item, name, fmt::format("a table, written [[{}]]", name));
    }

    Setter address(const std::string& key, std::optional<Address>& target) {
        return [this, key, &target](const toml::node& node) {
            target = parseAddress(node.value_exact<std::string>().value_or(""));
            if (!target || !target->isSource())
                expected(node, key, "an address of a host, of IPv4 or IPv6");
        };
    }

    Setter mac(const std::string& key, std::optional<Mac>& target) {
        return [this, key, &target](const toml::node& node) {
            target = parseMac(node.value_exact<std::string>().value_or(""));
            if (!target)
                expected(node, key, "a MAC address of a single station, as in \"02:00:00:00:00:01\"");
        };
    }

    /// What is sent within a line of HTTP.
    Setter word(const std::string& key, std::string& target) {
        return [this, key, &target](const toml::node& node) {
            constexpr std::size_t longest = 512;
            target = node.value_exact<std::string>().value_or("");
            const auto isPlain = [](char byte) { return byte > ' ' && byte < 0x7f; };
            if (target.empty() || target.size() > longest || !std::ranges::all_of(target, isPlain))
                expected(node, key, "up to 512 letters and signs of ASCII, without blanks");
        };
    }

    ServiceSettings service(const toml::table& read) {
        ServiceSettings service;
        std::optional<Address> to;
        std::string protocol = "tcp", affinity = "connection", mode = "nat";
        unsigned port = 0, idle = 0;
        const toml::node* backends = nullptr;
        auto& check = service.check;
        table(read, "service.",
              {{"name", string("service.name", service.name)},
               {"address", address("service.address", to)},
               {"protocol", choice("service.protocol", protocol, protocols)},
               {"port", number("service.port", port, 1, 65535, false)},
               {"mode", choice("service.mode", mode, modes)},
               {"affinity", choice("service.affinity", affinity, affinities)},
               {"idle", number("service.idle", idle, 1, 86400, false)},
               {"table", number("service.table", service.table, 2, 1'000'003, false)},
               {"check",
                section("service.check",
                        {{"kind", choice("service.check.kind", check.kind, checks)},
                         {"path", word("service.check.path", check.path)},
                         {"host", word("service.check.host", check.host)},
                         {"port", number("service.check.port", check.port, 1, 65535, false)},
                         {"interval", number("service.check.interval", check.interval, 50, 3'600'000, false)},
                         {"timeout", number("service.check.timeout", check.timeout, 10, 60000, false)},
                         {"rise", number("service.check.rise", check.rise, 1, 100, false)},
                         {"fall", number("service.check.fall", check.fall, 1, 100, false)}})},
               {"backend", [&](const toml::node& node) { backends = &node; }}});
        service.place = {protocol == "tcp" ? tcp : udp,
                         {to.value_or(Address{}), static_cast<std::uint16_t>(port)}};
        service.byAddress = affinity == "address";
        service.direct = mode == "direct";
        constexpr unsigned idleTcp = 900, idleUdp = 120;
        service.idle = idle != 0 ? idle : protocol == "tcp" ? idleTcp : idleUdp;
        if (check.kind.empty())
            check.kind = protocol == "tcp" ? "tcp" : "none";
        if (check.kind == "http" && check.host.empty() && to)
            check.host = hostOf(service.place.endpoint);
        if (!to || port == 0 || backends == nullptr)
            expected(read, "service", "with an 'address', a 'port' and a [[service.backend]]");
        else
            each(*backends, "service.backend", mostBackends,
                 [&](const toml::table& inner) { service.backends.push_back(backend(inner, service)); });
        if (const auto wrong = contradiction(service))
            expected(read, "service", *wrong);
        return service;
    }

    BackendSettings backend(const toml::table& read, const ServiceSettings& service) {
        BackendSettings backend;
        std::optional<Address> to;
        unsigned port = service.place.endpoint.port;
        table(read, "service.backend.",
              {{"address", address("service.backend.address", to)},
               {"port", number("service.backend.port", port, 1, 65535, false)},
               {"weight", number("service.backend.weight", backend.weight, 0, 100, false)},
               {"mac", mac("service.backend.mac", backend.mac)},
               {"device", string("service.backend.device", backend.device)}});
        backend.endpoint = {to.value_or(Address{}), static_cast<std::uint16_t>(port)};
        if (!to)
            expected(read, "service.backend", "with an 'address'");
        else if (to->isFour() != service.place.endpoint.address.isFour())
            expected(read, "service.backend", "of the same version of IP as the service");
        return backend;
    }

    /// As clients of HTTP name it.
    static std::string hostOf(const Endpoint& endpoint) {
        constexpr std::uint16_t usual = 80;
        const auto whole = text(endpoint);
        return endpoint.port == usual ? whole.substr(0, whole.rfind(':')) : whole;
    }

    static std::optional<std::string> contradiction(const ServiceSettings& service) {
        const auto& check = service.check;
        if (check.kind != "http" && (!check.path.empty() || !check.host.empty()))
            return "with a 'path' and a 'host' only where the 'kind' of its check is \"http\"";
        if (check.kind == "http" && !check.path.starts_with('/'))
            return "with a 'path' that begins with /, for its check is of HTTP";
        for (const auto& backend : service.backends) {
            if (!service.direct && (backend.mac || !backend.device.empty()))
                return "with a 'mac' and a 'device' of backends only where its 'mode' is \"direct\"";
            if (service.direct && (!backend.mac || backend.endpoint.port != service.place.endpoint.port))
                return "with a 'mac' of each backend, and its own 'port', for its 'mode' is \"direct\"";
        }
        if (!isPrime(service.table) || service.table < fewestPlaces * service.backends.size())
            return fmt::format(
                "with a 'table' that is a prime number, from {} on for {} backends (65537, 1000003)",
                fewestPlaces * service.backends.size(), service.backends.size());
        for (const auto& one : service.backends)
            if (std::ranges::count(service.backends, one.endpoint, &BackendSettings::endpoint) != 1)
                return fmt::format("with {} once among its backends", text(one.endpoint));
        return std::nullopt;
    }
};

std::optional<std::string> contradiction(const Configuration& configuration) {
    const auto& services = configuration.services;
    for (const auto& service : services) {
        const auto& place = service.place;
        if (std::ranges::count(services, place, &ServiceSettings::place) != 1)
            return fmt::format("there are two services at {}", text(place.endpoint));
        if (std::ranges::count(services, service.name, &ServiceSettings::name) != 1)
            return fmt::format("there are two services called '{}'", service.name);
        for (const auto& backend : service.backends)
            if (std::ranges::find(services, Place{place.protocol, backend.endpoint},
                                  &ServiceSettings::place) != services.end())
                return fmt::format("{} is a service and a backend", text(backend.endpoint));
    }
    return std::nullopt;
}
} // namespace

Result<Configuration> parseConfiguration(const std::string& text, const std::string& file) {
    const auto parsed = config::parseToml(text, file, manual);
    if (!parsed)
        return std::unexpected(parsed.error());
    Configuration configuration;
    SettingsReader reader{file, manual};
    constexpr unsigned mostSessions = 1U << 26U;
    reader.table(*parsed, "",
                 {{"sessions", reader.number("sessions", configuration.sessions, 16, mostSessions, false)},
                  {"adopt", reader.number("adopt", configuration.adopt, 0, 86400, false)},
                  {"service", reader.services(configuration.services)}});
    if (const auto error = reader.error())
        return std::unexpected(*error);
    for (auto& service : configuration.services)
        if (service.name.empty())
            service.name =
                balancer::text(service.place.endpoint) + (service.place.protocol == tcp ? "/tcp" : "/udp");
    const auto wrong = configuration.services.empty() ? std::optional<std::string>{"there is no [[service]]"}
                                                      : contradiction(configuration);
    if (wrong)
        return std::unexpected(Error{fmt::format("{}: {}", file, *wrong), {}, manual, ExitCode::usage});
    return configuration;
}

} // namespace tna::balancer

// SPDX-License-Identifier: Apache-2.0
#include "bench/testbed/many_ports.hpp"

#include "bench/testbed/process.hpp"

#include <cerrno>
#include <net/if.h>

namespace tna::bench {

Result<ManyPorts> ManyPorts::make(unsigned ports) {
    auto device = OwnNamespace::make("d");
    if (!device)
        return std::unexpected(device.error());
    auto far = OwnNamespace::make("f");
    if (!far)
        return std::unexpected(far.error());
    ManyPorts made{std::move(*device), std::move(*far)};
    if (auto built = made.build(ports); !built)
        return std::unexpected(built.error());
    return made;
}

Result<void> ManyPorts::build(unsigned ports) {
    // Stations are not to age while they are looked at.
    std::string here = "link add br0 type bridge ageing_time 1000000 mcast_snooping 0\nlink set br0 up\n";
    std::string there;
    for (unsigned port = 0; port < ports; port++) {
        here += fmt::format("link add p{0} type veth peer name f{0} netns {1}\nlink set p{0} master br0 up\n",
                            port, far_.name());
        there += fmt::format("link set f{} up\n", port);
    }
    if (auto done = runBatch("ip", device_.name(), here); !done)
        return done;
    if (auto done = runBatch("ip", far_.name(), there); !done)
        return done;
    auto inside = NamespaceScope::enter(device());
    if (!inside)
        return std::unexpected(inside.error());
    for (unsigned port = 0; port < ports; port++) {
        ifindexes_.push_back(::if_nametoindex(fmt::format("p{}", port).c_str()));
        if (ifindexes_.back() == 0)
            return failErrno(errno, "there is no port p{}", port);
    }
    return {};
}

} // namespace tna::bench

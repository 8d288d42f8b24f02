// SPDX-License-Identifier: Apache-2.0
#include "introspect/ethtool.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <optional>
#include <string_view>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace tna::introspect {

namespace {

ifreq requestFor(const model::Link& link) {
    ifreq request{};
    const auto length = std::min(link.name.size(), sizeof request.ifr_name - 1);
    std::copy_n(link.name.begin(), length, request.ifr_name);
    return request;
}

template <typename Command>
bool call(int fd, const model::Link& link, Command& command) {
    ifreq request = requestFor(link);
    request.ifr_data = reinterpret_cast<char*>(&command);
    return ioctl(fd, SIOCETHTOOL, &request) == 0;
}

std::optional<std::uint32_t> value(int fd, const model::Link& link, std::uint32_t which) {
    ethtool_value command{which, 0};
    return call(fd, link, command) ? std::optional(command.data) : std::nullopt;
}

constexpr std::uint32_t mostFeatures = 256;

/// ethtool's structures end in arrays without a length.
template <typename Header, typename Element>
struct alignas(8) WithArray {
    std::array<std::uint8_t, sizeof(Header) + mostFeatures * sizeof(Element)> bytes{};
    Header& header() { return *reinterpret_cast<Header*>(bytes.data()); }
    const Element* elements() const {
        return reinterpret_cast<const Element*>(bytes.data() + sizeof(Header));
    }
};

struct FeatureName {
    char text[ETH_GSTRING_LEN];
};

std::optional<unsigned> featureNumber(int fd, const model::Link& link, std::string_view name) {
    WithArray<ethtool_sset_info, std::uint32_t> sets;
    sets.header().cmd = ETHTOOL_GSSET_INFO;
    sets.header().sset_mask = 1ULL << ETH_SS_FEATURES;
    if (!call(fd, link, sets) || sets.header().sset_mask == 0 || *sets.elements() > mostFeatures)
        return std::nullopt;
    WithArray<ethtool_gstrings, FeatureName> names;
    names.header().cmd = ETHTOOL_GSTRINGS;
    names.header().string_set = ETH_SS_FEATURES;
    names.header().len = *sets.elements();
    if (!call(fd, link, names))
        return std::nullopt;
    for (unsigned i = 0; i < names.header().len; i++)
        if (name ==
            std::string_view(names.elements()[i].text, strnlen(names.elements()[i].text, ETH_GSTRING_LEN)))
            return i;
    return std::nullopt;
}
} // namespace

bool Ethtool::hasFeature(const model::Link& link, std::optional<unsigned> bit) const {
    WithArray<ethtool_gfeatures, ethtool_get_features_block> features;
    features.header().cmd = ETHTOOL_GFEATURES;
    features.header().size = mostFeatures / 32;
    return bit && call(fd_.get(), link, features) && *bit / 32 < features.header().size &&
           (features.elements()[*bit / 32].active >> *bit % 32 & 1U) != 0;
}

Result<Ethtool> Ethtool::open() {
    UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (!fd)
        return failErrno(errno, "cannot open a socket for ethtool");
    return Ethtool(std::move(fd));
}

void Ethtool::describe(model::Link& link) const {
    // ioctls go by name, and a rename may be ahead of its announcement: make sure whom we ask.
    ifreq request = requestFor(link);
    if (ioctl(fd_.get(), SIOCGIFINDEX, &request) != 0 ||
        static_cast<model::IfIndex>(request.ifr_ifindex) != link.ifindex)
        return;
    if (link.driver.empty()) {
        ethtool_drvinfo info{};
        info.cmd = ETHTOOL_GDRVINFO;
        if (call(fd_.get(), link, info))
            link.driver = std::string_view(info.driver, strnlen(info.driver, sizeof info.driver));
    }
    if (const auto flags = value(fd_.get(), link, ETHTOOL_GFLAGS)) {
        link.vlanRxOffload = (*flags & ETH_FLAG_RXVLAN) != 0;
        link.vlanTxOffload = (*flags & ETH_FLAG_TXVLAN) != 0;
    }
    if (!serviceTagReceive_)
        serviceTagReceive_ = featureNumber(fd_.get(), link, "rx-vlan-stag-hw-parse");
    link.serviceTagRxOffload = hasFeature(link, *serviceTagReceive_);
    if (const auto checksum = value(fd_.get(), link, ETHTOOL_GRXCSUM))
        link.receiveChecksumOff = *checksum == 0;
}

} // namespace tna::introspect

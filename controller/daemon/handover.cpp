// SPDX-License-Identifier: Apache-2.0
#include "daemon/handover.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <memory>
#include <spdlog/spdlog.h>
#include <string>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>

namespace tna::daemon {

namespace {
constexpr std::uint64_t patienceMicroseconds = 5'000'000;

/// Of all that is left in this network namespace: numbers of devices mean something in one only.
std::string nameHere() {
    struct stat status{};
    if (::stat("/proc/self/ns/net", &status) != 0)
        return {};
    return fmt::format("xdp-in-{}", status.st_ino);
}

struct Freed {
    void operator()(char** names) const {
        for (char** name = names; name != nullptr && *name != nullptr; name++)
            std::free(*name);
        std::free(static_cast<void*>(names));
    }
};

void barrier() {
    if (const int done = ::sd_notify_barrier(0, patienceMicroseconds); done < 0)
        spdlog::debug("systemd does not answer: {}",
                      std::error_code(-done, std::generic_category()).message());
}
} // namespace

std::vector<UniqueFd> takeHandedOver() {
    char** list = nullptr;
    const int count = ::sd_listen_fds_with_names(1, &list);
    const std::unique_ptr<char*, Freed> names{list};
    const auto here = nameHere();
    std::vector<UniqueFd> links;
    for (int i = 0; i < count; i++) {
        UniqueFd fd{SD_LISTEN_FDS_START + i};
        const std::string name = list[i];
        ::sd_notifyf(0, "FDSTOREREMOVE=1\nFDNAME=%s", name.c_str());
        if (name == here)
            links.push_back(std::move(fd));
    }
    if (count > 0)
        barrier(); // what systemd holds stays attached whatever we do
    return links;
}

void handOver(const std::vector<UniqueFd>& links) {
    const auto name = nameHere();
    if (links.empty() || name.empty() || std::getenv("NOTIFY_SOCKET") == nullptr)
        return;
    const auto message = "FDSTORE=1\nFDPOLL=0\nFDNAME=" + name;
    for (const auto& link : links) {
        const int fd = link.get();
        ::sd_pid_notify_with_fds(0, 0, message.c_str(), &fd, 1);
    }
    barrier(); // else systemd may see the end before it has seen all of this
}

} // namespace tna::daemon

// SPDX-License-Identifier: Apache-2.0
#include "bench/contender.hpp"

#include "base/file.hpp"
#include "daemon/controller.hpp"

namespace tna::bench {

namespace {

class Linux : public Contender {
public:
    Result<void> start(Traffic&) override { return {}; }
    void stop() override {}
};

class LinuxWithBridgeNetfilter : public Contender {
public:
    Result<void> start(Traffic&) override {
        auto set = writeFile(path, "1");
        if (!set)
            return std::unexpected(std::move(set.error()).withHint("br_netfilter is not in this kernel"));
        return {};
    }
    void stop() override { (void)writeFile(path, "0"); }

private:
    static constexpr const char* path = "/proc/sys/net/bridge/bridge-nf-call-iptables";
};

class Ceiling : public Contender {
public:
    Result<void> start(Traffic& traffic) override {
        auto link = attachXdp(traffic.ceilingProgram(), "d0");
        if (!link)
            return std::unexpected(link.error());
        link_ = std::move(*link);
        return {};
    }
    void stop() override { link_.reset(); }

private:
    UniqueFd link_;
};

/// The daemon's controller, in this process: the same code as tnad's.
class Tna : public Contender {
public:
    Result<void> start(Traffic&) override {
        if (controller_) {
            (void)controller_->pause(std::nullopt, false);
            return verify();
        }
        config::Config config;
        config.ports.excludeKinds.clear();
        auto controller = daemon::Controller::start(config);
        if (!controller)
            return std::unexpected(controller.error());
        controller_ = std::move(*controller);
        return verify();
    }
    void stop() override { (void)controller_->pause(std::nullopt, true); }

private:
    Result<void> verify() {
        const auto port = controller_->port("d0");
        if (!port)
            return fail("tna does not see the bridge port d0");
        if ((*port)["port"]["state"] == "accelerated")
            return {};
        return fail("tna left d0 to Linux: {}", (*port)["port"]["why"].dump());
    }
    std::unique_ptr<daemon::Controller> controller_;
};

} // namespace

const std::vector<std::string>& contenderNames() {
    static const std::vector<std::string> names{"linux", "linux+nf", "tna", "ceiling"};
    return names;
}

std::unique_ptr<Contender> makeContender(const std::string& name) {
    if (name == "linux")
        return std::make_unique<Linux>();
    if (name == "linux+nf")
        return std::make_unique<LinuxWithBridgeNetfilter>();
    if (name == "tna")
        return std::make_unique<Tna>();
    if (name == "ceiling")
        return std::make_unique<Ceiling>();
    return nullptr;
}

} // namespace tna::bench

// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/external.hpp"
#include "bench/contenders/make.hpp"

namespace tna::bench {

namespace {
/// Open vSwitch with the datapath in its own process: a learning switch, without a service that runs.
class Ovs : public External {
public:
    explicit Ovs(FrameSocket socket)
        : External({"ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "ovs-vsctl"},
                   "apt-get install openvswitch-switch"),
          socket_(socket) {}
    unsigned cores() const override { return 1; }

private:
    Result<void> begin(Traffic& traffic) override {
        if (auto taken = removeLinuxBridge(); !taken)
            return taken;
        if (auto running = startDaemons(); !running)
            return running;
        if (auto made = makeSwitch(); !made)
            return made;
        return traffic.source().sendBack();
    }
    /// Where all of its programs look for each other.
    [[nodiscard]] std::vector<std::string> own(std::vector<std::string> words) const {
        const std::string& here = folder();
        words.insert(words.begin(), {"env", "OVS_RUNDIR=" + here, "OVS_LOGDIR=" + here, "OVS_DBDIR=" + here});
        return words;
    }
    [[nodiscard]] std::string database() const { return "unix:" + folder() + "/db.sock"; }

    Result<void> startDaemons() {
        const auto file = folder() + "/conf.db";
        if (auto made =
                runProgram(own({"ovsdb-tool", "create", file, "/usr/share/openvswitch/vswitch.ovsschema"}));
            !made)
            return made;
        if (auto server = launch(own(
                {"ovsdb-server", file, "--remote=p" + database(), "--unixctl=" + folder() + "/ovsdb.ctl"}));
            !server)
            return server;
        if (auto there = await("its database does not answer", std::chrono::seconds(10),
                               [&] { return set({"--no-wait", "init"}).has_value(); });
            !there)
            return there;
        return launch(own({"ovs-vswitchd", database(), "--unixctl=" + folder() + "/vswitchd.ctl"}));
    }

    [[nodiscard]] Result<void> set(std::vector<std::string> words) const {
        words.insert(words.begin(), {"ovs-vsctl", "--timeout=10", "--db=" + database()});
        return runProgram(own(std::move(words)));
    }

    /// As large a table of stations as Linux has, whose entries do not age here either.
    Result<void> makeSwitch() const {
        if (auto core = set({"--no-wait", "set", "Open_vSwitch", ".", "other_config:pmd-cpu-mask=1"}); !core)
            return core;
        std::vector<std::string> words{"add-br",
                                       "ovs0",
                                       "--",
                                       "set",
                                       "bridge",
                                       "ovs0",
                                       "datapath_type=netdev",
                                       "fail_mode=standalone",
                                       "other_config:mac-table-size=262144",
                                       "other_config:mac-aging-time=3600"};
        for (const char* device : {"d0", "d1"}) {
            words.insert(words.end(), {"--", "add-port", "ovs0", device});
            if (socket_ == FrameSocket::xdp)
                words.insert(words.end(),
                             {"--", "set", "interface", device, "type=afxdp", "options:n_rxq=1"});
        }
        return set(words);
    }

    FrameSocket socket_;
};
} // namespace

std::unique_ptr<Contender> makeOvs(FrameSocket socket) {
    return std::make_unique<Ovs>(socket);
}

} // namespace tna::bench

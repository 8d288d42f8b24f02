// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/external.hpp"
#include "bench/contenders/make.hpp"
#include "bench/testbed/kernel_objects.hpp"

#include <algorithm>
#include <thread>

namespace tna::bench {

namespace {
/// testpmd in its io mode: frames go from one device to the other, and nobody looks at them.
class Dpdk : public External {
public:
    explicit Dpdk(FrameSocket socket)
        : External({"dpdk-testpmd"}, "apt-get install dpdk-dev librte-net-af-xdp23 librte-net-af-packet23"),
          socket_(socket) {}
    unsigned cores() const override { return 1; }
    void stop() override {
        External::stop();
        removeEmptyPinFolder();
    }

private:
    Result<void> begin(Traffic&) override {
        if (auto taken = removeLinuxBridge(); !taken)
            return taken;
        // The generator starts with the last processor: the forwarding thread takes the first, and the main
        // thread, which sleeps, the generator's. Without a pseudo-terminal it ends with its standard input.
        const unsigned last = std::max(1U, std::thread::hardware_concurrency()) - 1;
        std::vector<std::string> words{"dpdk-testpmd",
                                       "--lcores",
                                       fmt::format("0@{},1@0", last),
                                       "--main-lcore",
                                       "0",
                                       "--no-shconf",
                                       "--no-telemetry",
                                       "--no-pci",
                                       "--no-huge",
                                       "-m",
                                       "256",
                                       "--file-prefix",
                                       folder().substr(folder().rfind('/') + 1)};
        for (const char* device : {"d0", "d1"})
            words.push_back(vdev(device));
        words.insert(words.end(), {"--", "--auto-start", "--forward-mode=io", "--total-num-mbufs=32768"});
        return launch(words);
    }
    [[nodiscard]] std::string vdev(const std::string& device) const {
        const char port = device.back();
        return socket_ == FrameSocket::xdp
                   ? fmt::format("--vdev=net_af_xdp{},iface={}", port, device)
                   : fmt::format("--vdev=net_af_packet{},iface={},qdisc_bypass=1", port, device);
    }
    FrameSocket socket_;
};
} // namespace

std::unique_ptr<Contender> makeDpdk(FrameSocket socket) {
    return std::make_unique<Dpdk>(socket);
}

} // namespace tna::bench

// SPDX-License-Identifier: Apache-2.0
#include "bench/contenders/make.hpp"
#include "bench/testbed/tnad.hpp"

namespace tna::bench {

namespace {
/// The daemon itself; ended with its lane, so that nothing of it is left.
class Tna : public Contender {
public:
    Tna(std::string file, std::string fdb, unsigned ports)
        : file_(std::move(file)), fdb_(std::move(fdb)), ports_(ports) {}
    Result<void> start(Traffic&) override {
        auto started = Tnad::start(file_, fdb_);
        if (!started)
            return std::unexpected(started.error());
        tnad_.emplace(std::move(*started));
        return tnad_->waitAccelerated(ports_);
    }
    void stop() override { tnad_.reset(); }
    double cpuSeconds() const override { return tnad_ ? tnad_->process().cpuSeconds() : 0; }
    Result<std::optional<std::uint64_t>> slowFrames() override {
        const auto port = tnad_->port("d0");
        if (!port)
            return std::unexpected(port.error());
        return (*port)["slow_packets"].get<std::uint64_t>();
    }

private:
    std::string file_;
    std::string fdb_;
    unsigned ports_;
    std::optional<Tnad> tnad_;
};
} // namespace

std::unique_ptr<Contender> makeTna(const std::string& file, const std::string& fdb, unsigned ports) {
    return std::make_unique<Tna>(file, fdb, ports);
}

} // namespace tna::bench

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bridge_fixture.hpp"

#include <string>
#include <thread>
#include <vector>

namespace tna::test {

/// An object that was built along with the tests.
[[nodiscard]] std::string moduleObject(const std::string& name);
[[nodiscard]] std::string exampleObject(const std::string& name);

/// The frame with another UDP destination port; its checksum is nobody's business here.
[[nodiscard]] Frame toUdpPort(Frame frame, unsigned port);

/// A row of the counters that a module has at a hook: {"continue": 3, ...} without zeros.
using Said = std::map<std::string, std::uint64_t>;

/// What tests of custom modules ask of a controller.
class ModuleControl {
public:
    explicit ModuleControl(std::unique_ptr<daemon::Controller>& controller) : controller_(controller) {}
    void insert(const std::string& name, const std::string& object, const api::Placement& placement = {});
    void replace(const std::string& name, const std::string& object, const api::Placement& placement = {});
    void remove(const std::string& name);
    [[nodiscard]] Said said(const std::string& name, const std::string& hook) const;
    /// The descriptor of a map of the module's own.
    [[nodiscard]] UniqueFd map(const std::string& name, const std::string& map) const;

private:
    std::unique_ptr<daemon::Controller>& controller_;
};

/// Takes what arrives at a port, from a thread of its own: more than a socket has room for.
class Collector {
public:
    explicit Collector(const PacketPort& port)
        : thread_([this, &port](const std::stop_token& stop) {
              while (!stop.stop_requested())
                  if (auto frame = port.receive(std::chrono::milliseconds(20)))
                      frames_.push_back(std::move(*frame));
          }) {}
    std::vector<Frame> end() {
        thread_.request_stop();
        thread_.join();
        return std::move(frames_);
    }

private:
    std::vector<Frame> frames_;
    std::jthread thread_;
};

} // namespace tna::test

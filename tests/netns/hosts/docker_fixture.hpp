// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "host_fixture.hpp"

namespace tna::test {

/// A host with Docker, as Debian has it: its own daemon, with its own rules, bridge and storage.
class Docker : public Host {
protected:
    void SetUp() override;
    void TearDown() override;

    void startDocker();
    void stopDocker();
    /// What it says; the test fails if it fails.
    std::string docker(const std::vector<std::string>& words);
    /// A container that does nothing. Options are those of `docker run`.
    Guest run(const std::string& name, const std::vector<std::string>& options = {});
    /// One that runs.
    Guest running(const std::string& name);

    std::optional<Process> docker_;
};

} // namespace tna::test

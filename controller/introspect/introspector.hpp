// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "introspect/network_source.hpp"

#include <cstddef>
#include <memory>

namespace tna::introspect {

struct Options {
    /// Bytes of announcements that may wait; the kernel takes memory for what does wait only.
    std::size_t receiveBuffer = std::size_t{16} * 1024 * 1024;
};

/// Reads what Linux is configured to do in one network namespace, and follows it. Not thread safe.
class Introspector : public NetworkSource {
public:
    /// Of the calling thread's network namespace; it stays there when the thread moves on.
    [[nodiscard]] static Result<std::unique_ptr<Introspector>> open(const Options& options = {});
    ~Introspector() override;

    [[nodiscard]] const model::Network& network() const override;
    [[nodiscard]] Result<Changes> process() override;
    [[nodiscard]] Result<void> refreshSysctls() override;
    void suspect(model::IfIndex ifindex) override;
    void suspectAll() override;
    [[nodiscard]] Stats stats() const override;

    /// Readable when process() has something to do.
    [[nodiscard]] int pollFd() const;
    /// Reads everything again.
    [[nodiscard]] Result<void> resync();

private:
    class Impl;
    explicit Introspector(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

} // namespace tna::introspect

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "daemon/kernel.hpp"
#include "daemon/observed.hpp"
#include "introspect/network_source.hpp"

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace tna::daemon {

/// What a way works with; it outlives the way.
struct WayContext {
    const Kernel& kernel;
    introspect::NetworkSource& source;
    Observed& observed; ///< what it finds out is written there
};

/// The way in which a fast path learns what Linux would do: all that the daemon does differently, depending
/// on whether the kernel is read in place (decision 8) or watched over netlink (decision 14).
class Way {
public:
    using Time = std::chrono::steady_clock::time_point;

    virtual ~Way() = default;
    Way(const Way&) = delete;
    Way& operator=(const Way&) = delete;

    [[nodiscard]] deploy::DataPath& dataPath() const { return *dataPath_; }

    /// How often it is looked for what nobody announces.
    [[nodiscard]] virtual std::chrono::milliseconds interval() const = 0;
    /// Finds out what a plan is to rest on, before it is made. An answer says why this way is wrong.
    [[nodiscard]] virtual std::optional<std::string> prepare(Time now) = 0;
    /// At each interval: whether there is something to be decided anew.
    [[nodiscard]] virtual bool look() = 0;
    /// Just before a plan is put in place; follow() comes after that.
    virtual void takeIn() {}
    /// After all that may have changed: the fast path works with what Linux was told, or not at all.
    virtual void follow() = 0;
    /// Nothing that was read before is believed: follow() compares it.
    virtual void suspect() {}
    /// To be watched for readability, and followed then; -1: nothing.
    [[nodiscard]] virtual int fd() const { return -1; }
    /// Says in the log what it is.
    virtual void announce() const = 0;

    /// Asks what drivers can do with XDP; whether that is different now.
    [[nodiscard]] bool readFeatures();
    /// Whether it is to be asked again where the kernel did not tell.
    [[nodiscard]] virtual bool needsDrivers() const = 0;
    /// Whether packets can be decided twice, for comparison.
    [[nodiscard]] virtual bool checksItself() const = 0;
    /// How often all stations were read.
    [[nodiscard]] virtual std::uint64_t readings() const { return 0; }

protected:
    Way(std::unique_ptr<deploy::DataPath> dataPath, const WayContext& context)
        : dataPath_(std::move(dataPath)), context_(context) {}

    [[nodiscard]] const Kernel& kernel() const { return context_.kernel; }
    [[nodiscard]] introspect::NetworkSource& source() const { return context_.source; }
    [[nodiscard]] Observed& observed() const { return context_.observed; }

private:
    /// The kernel does not tell what drivers can do with XDP.
    virtual void driversDoNotTell(const Error& error) = 0;

    std::unique_ptr<deploy::DataPath> dataPath_;
    WayContext context_;
};

/// The one for what was loaded, whose capabilities are among what was observed already.
[[nodiscard]] std::unique_ptr<Way> makeWay(Loaded loaded, const WayContext& context);

} // namespace tna::daemon

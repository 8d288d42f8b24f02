// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"
#include "support/command.hpp"
#include "support/eventually.hpp"
#include "support/namespace.hpp"
#include "support/process.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace tna::test {

/// A host of containers or virtual machines, in a namespace that the test is in. 198.51.100.1 is its address
/// outside, where a machine has 198.51.100.2.
class Host : public ::testing::Test {
protected:
    static constexpr const char* outsideAddress = "198.51.100.2";
    static constexpr const char* hostAddress = "198.51.100.1";

    /// What somebody runs on the host, and where.
    struct Guest {
        std::string address;
        std::unique_ptr<Namespace> inside;
    };

    void SetUp() override;
    void TearDown() override;

    /// A bridge for guests, br0, with 10.7.0.1 for an address of the host, which routes.
    static void makeBridge();
    /// A namespace at a bridge of the host's, by a veth of this name.
    static Guest attach(const std::string& name, const std::string& bridge, const std::string& address,
                        const std::string& gateway);

    /// Starts tnad as it comes, and waits until so many ports of guests, and the host's card, are
    /// accelerated.
    void accelerate(unsigned guests);
    [[nodiscard]] bool accelerated(unsigned guests) const;
    [[nodiscard]] nlohmann::json ports() const;

    /// How much of what is exchanged took the fast path, from the packets on of which Linux is sure. To be
    /// asked again and again, until it says that this has been enough.
    class Share {
    public:
        explicit Share(const Host& host, unsigned rounds = 300);
        bool enough();
        [[nodiscard]] double fast() const { return share_; }

    private:
        struct Counts {
            double fast = 0;
            double slow = 0;
        };
        [[nodiscard]] Counts count() const;

        const Host& host_;
        const unsigned wanted_;
        Counts last_;
        std::optional<Counts> begin_;
        unsigned rounds_ = 0;
        double share_ = 0;
    };
    /// A connection of TCP carries what it is given, both ways, and most of it takes the fast path once
    /// Linux knows it.
    void expectFast(const Namespace& clients, const Namespace& servers, const std::string& ip,
                    const std::string& knownAs = {}) const;
    /// Whether somebody there refuses a connection.
    static bool reaches(const Namespace& from, const std::string& ip);

    std::string directory_;
    std::optional<Namespace> host_;
    std::optional<Namespace> outside_;
    std::optional<NamespaceScope> scope_;
    std::optional<Process> tnad_;
};

} // namespace tna::test

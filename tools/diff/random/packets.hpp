// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/chance.hpp"
#include "diff/random/source.hpp"
#include "diff/random/topology.hpp"
#include "diff/random/writer.hpp"

namespace tna::diff {

/// One of each host that nobody answers, so that switches know it.
[[nodiscard]] std::vector<Packet> introductions(const Topology& topology);
/// One of each host to the next one of its net, if there is any.
[[nodiscard]] std::vector<Packet> greetings(const Topology& topology);

/// Packets between the hosts of a topology: most of them of flows that go on, others of all kinds, well
/// formed, odd and broken.
class Packets : public Source {
public:
    Packets(Chance& chance, Topology& topology);
    [[nodiscard]] Step next() override;

private:
    struct Flow {
        std::size_t from; ///< hosts
        std::size_t to;
        bool six;
        std::size_t far;     ///< 0, or the number of a far destination + 1
        std::size_t fromFar; ///< the same of a source
        unsigned protocol;
        unsigned fromPort, toPort;
        std::size_t size;
        unsigned vlan;
        unsigned sent = 0;
    };
    /// What a packet is before it is written down.
    struct Draft {
        unsigned port;
        Mac to, from;
        std::vector<std::pair<unsigned, unsigned>> tags;
        bool six;
        Header4 header4;
        Header6 header6;
        std::vector<std::uint8_t> payload;
    };
    [[nodiscard]] Flow newFlow();
    [[nodiscard]] Draft draft(Flow& flow);
    [[nodiscard]] static Frame write(const Draft& draft);
    [[nodiscard]] Packet odd(Flow& flow);
    void strange(Draft& draft);
    void strange4(Draft& draft);
    void strange6(Draft& draft);
    [[nodiscard]] std::size_t size();
    [[nodiscard]] Packet talk(const Host& host);
    void spoil(Frame& frame);

    Chance& chance_;
    Topology& topology_;
    Chance large_; ///< for what is larger than usual
    std::vector<Flow> flows_;
};

} // namespace tna::diff

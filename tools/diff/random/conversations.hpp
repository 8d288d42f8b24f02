// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "diff/random/packets.hpp"
#include "diff/random/talk.hpp"

#include <deque>

namespace tna::diff {

/// Connections as connection tracking sees them: most packets belong to one that goes on, in both directions;
/// others begin or end one, are odd or broken, are errors about one, or belong to nothing.
class Conversations : public Source {
public:
    /// `translates`: many of them reach services by other addresses.
    Conversations(Chance& chance, Topology& topology, bool translates);
    [[nodiscard]] Step next() override;
    /// Of one of UDP or TCP, most often of who has talked last.
    [[nodiscard]] std::string anyEnds() { return scribe_.endsOf(anyTalk()); }
    /// The same as an entry that is to be added.
    [[nodiscard]] std::string anyEntry() { return scribe_.entryOf(anyTalk()); }
    /// Whoever has talked does so once more.
    void goOnWithTheLast() { again_ = true; }

private:
    [[nodiscard]] Talk newTalk();
    [[nodiscard]] bool sameSide(std::size_t one, std::size_t other, bool back) const;
    [[nodiscard]] const Talk& anyTalk();
    void becomeTranslated(Talk& talk);
    [[nodiscard]] End newEnd(bool six);
    void begin(Talk& talk);
    void goOn(Talk& talk);
    void goOnUdp(Talk& talk, unsigned most);
    void goOnTcp(Talk& talk);
    void goOnEcho(Talk& talk);
    void complain(Talk& talk);
    void send(Talk& talk, unsigned side, std::vector<std::uint8_t> payload);
    void sendOdd(Letter letter);
    /// As cards of hosts send it.
    void put(unsigned port, Frame frame);

    Chance& chance_;
    Topology& topology_;
    Scribe scribe_;
    Packets others_;
    bool translates_;
    bool padded_;
    std::vector<Talk> talks_;
    std::deque<Step> queue_;
    std::size_t last_ = 0; ///< who has talked
    bool again_ = false;
    unsigned ports_ = 1024; ///< those of clients, so that no two are the same behind one address
};

} // namespace tna::diff

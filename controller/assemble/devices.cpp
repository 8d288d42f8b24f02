// SPDX-License-Identifier: Apache-2.0
#include "assemble/devices.hpp"

#include <algorithm>

namespace tna::assemble {

namespace {

const std::string& nameOf(const model::Link& link) {
    return link.kind.empty() ? link.driver : link.kind;
}

std::string described(const model::Link& link) {
    const auto name = nameOf(link);
    if (name.empty())
        return "it is a device of no known driver";
    return (link.kind.empty() ? "its driver is " : "it is a device of kind ") + name;
}

bool sameAtTcx(const Device* known) {
    return known != nullptr && known->sameAtTcx;
}

/// What another device lies on, or has among its members, is named in its place.
Reason aFace(const model::Link& link, const Device* known, const std::string& why) {
    return {"stacked", described(link) + ", which is no port at XDP: " + why,
            sameAtTcx(known)
                ? "name it under 'tcx' under [ports] in the configuration: its frames are seen as socket "
                  "buffers then"
                : ""};
}

/// Whether it is a face of other devices, whatever its kind: what is below it would be passed by.
std::optional<Reason> ruleBelow(const model::Layers& layers, const model::Link& link, const Device* known) {
    if (known != nullptr && known->receive == Receive::never)
        return aFace(link, known, known->sent);
    // Frames that others of its members send and receive bear its name: bonds, teams, a virtual function's
    // synthetic device.
    if (const auto* member = layers.memberOf(link.ifindex); member != nullptr && !link.bridge)
        return aFace(link, known,
                     member->name + " receives and sends for it, with filters and queues of its own");
    if (link.lower != 0 && link.kind != "veth") // of which it is the other end
        return aFace(link, known, "it lies on another device, with filters and queues of its own");
    return std::nullopt;
}

/// Whether a socket buffer that was redirected to a device on top comes out of this one as others do. Those
/// that put packets into packets would tell a sender what is too large by the packet's route.
bool mayLieBelow(const model::Link& link) {
    const auto* known = knownDevice(link);
    if (known == nullptr)
        return link.kind.empty(); // a card
    return known->receive != Receive::never || known->sameAtTcx || link.kind == "dummy";
}

bool liesBelow(const model::Link& link, const model::Link& face) {
    if (link.master == face.ifindex && !link.bridgePort)
        return true;
    return face.lower == link.ifindex && !face.lowerElsewhere && face.kind != "veth";
}

constexpr unsigned deepest = 4; // more than the fast path follows

/// Of all that lie below a face, the first one that must not.
const model::Link* strangerBelow(const model::Network& network, const model::Link& face, unsigned depth = 0) {
    if (depth == deepest)
        return &face;
    for (const auto& [ifindex, link] : network.links) {
        if (!liesBelow(link, face))
            continue;
        if (!mayLieBelow(link))
            return &link;
        if (const auto* found = strangerBelow(network, link, depth + 1); found != nullptr)
            return found;
    }
    return nullptr;
}

/// The face as a port at tcx.
std::optional<Reason> ruleFaceAtTcx(const model::Network& network, const model::Link& link,
                                    const Device* known, const Reason& face) {
    if (!sameAtTcx(known))
        return face;
    if (const auto* below = strangerBelow(network, link); below != nullptr)
        return Reason{"stacked",
                      described(link) + ", and " + below->name +
                          " below it sends in ways of its own: " + described(*below),
                      ""};
    return std::nullopt;
}

Reason notKnown(const model::Link& link) {
    return {"not-known-safe",
            described(link) + ", which is not known to be safe: nobody has read what XDP leaves out there",
            "see 'trusted_drivers' under [ports] in the configuration"};
}

Reason unfinished(const Device& known) {
    return {"unfinished-frames",
            "it may hand over frames of local senders that are not finished, which cannot be seen: " +
                known.received,
            "see 'finished_frames' under [ports] in the configuration"};
}

Reason skipping(const Device& known) {
    return {"send-skips", "a frame that is redirected to it would skip " + known.sent,
            "if that is no matter here, see 'trusted_drivers' under [ports] in the configuration"};
}

const char* word(Receive receive) {
    switch (receive) {
    case Receive::finished:
        return "yes";
    case Receive::seen:
        return "yes, where the kernel is read in place";
    case Receive::undone:
        return "if `finished_frames` names it";
    case Receive::never:
        return "no";
    }
    return "no";
}

const char* word(Send send) {
    switch (send) {
    case Send::same:
        return "yes";
    case Send::skips:
        return "if `trusted_drivers` names it";
    case Send::never:
        return "no";
    }
    return "no";
}

} // namespace

const Device* knownDevice(const model::Link& link) {
    const auto& name = nameOf(link);
    const auto it = std::ranges::find_if(knownDevices(), [&](const Device& device) {
        return std::ranges::find(device.names, name) != device.names.end();
    });
    return it == knownDevices().end() ? nullptr : &*it;
}

bool mayBePort(const model::Link& link) {
    const auto* known = knownDevice(link);
    return known == nullptr || known->receive != Receive::never;
}

bool mayBePortAtTcx(const model::Link& link) {
    return mayBePort(link) || sameAtTcx(knownDevice(link));
}

bool mayRefuse(const model::Link& link) {
    return link.kind != "veth";
}

Judgement judge(const model::Network& network, const model::Layers& layers, const model::Link& link,
                const Promises& promises, bool seen) {
    Judgement judgement;
    const auto* known = knownDevice(link);
    if (auto face = ruleBelow(layers, link, known)) {
        judgement.tcx = ruleFaceAtTcx(network, link, known, *face);
        judgement.ingress = judgement.egress = std::move(face);
        return judgement;
    }
    if (known == nullptr) {
        if (!promises.trusted)
            judgement.ingress = judgement.egress = notKnown(link);
        return judgement;
    }
    const bool finished = known->receive == Receive::finished || (known->receive == Receive::seen && seen);
    if (!finished && !promises.finished)
        judgement.ingress = unfinished(*known);
    if (known->send != Send::same && !promises.trusted)
        judgement.egress = skipping(*known);
    judgement.shortest = known->shortest;
    return judgement;
}

std::string devicesAsMarkdown() {
    std::string out =
        "| kind or driver | takes frames from it | because they are | sends frames by it | because | "
        "shortest | at tcx | known by |\n|---|---|---|---|---|---|---|---|\n";
    for (const auto& device : knownDevices()) {
        std::string names;
        for (const auto& name : device.names)
            names += (names.empty() ? "`" : ", `") + name + "`";
        out += "| " + names + " | " + word(device.receive) + " | " + device.received + " | " +
               word(device.send) + " | " + (device.send == Send::skips ? "left out: " : "") + device.sent +
               " | " + (device.shortest == 0 ? "" : std::to_string(device.shortest) + " bytes") + " | " +
               (device.receive != Receive::never || device.sameAtTcx ? "yes" : "no") + " | " +
               (device.evidence == Evidence::tested ? "tests" : "reading") + " |\n";
    }
    return out;
}

} // namespace tna::assemble

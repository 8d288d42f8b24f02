// SPDX-License-Identifier: Apache-2.0
#include "diff/play.hpp"

#include "diff/entries.hpp"
#include "diff/interruption.hpp"
#include "diff/statistics.hpp"

#include <cerrno>
#include <cstdlib>
#include <poll.h>

namespace tna::diff {

namespace {
using Verb = Directive::Verb;

constexpr std::size_t batch = 256; ///< frames between two looks

/// One case in two worlds.
class Play {
public:
    Play(const FarSide& far, const Case& what, const Options& options, World plain, World fast)
        : far_(far), case_(what), options_(options), plain_(std::move(plain)), fast_(std::move(fast)),
          path_(fast_, what.flowsPerCpu, what.connections, options.fdb, options.hook == "tcx") {}

    Result<Outcome> run() {
        for (step_ = 0; step_ < case_.steps.size() && ends_.empty(); step_++)
            if (interrupted())
                return fail("interrupted");
            else if (auto done =
                         std::visit([this](const auto& step) { return take(step); }, case_.steps[step_]);
                     !done)
                return std::unexpected(done.error());
        if (ends_.empty())
            if (auto done = end(); !done)
                return std::unexpected(done.error());
        auto figures = path_.figures();
        if (!figures)
            return std::unexpected(figures.error());
        outcome_.figures = std::move(*figures);
        outcome_.watched = path_.watched();
        return std::move(outcome_);
    }

private:
    Result<void> take(const Packet& packet) {
        if (!started_)
            if (auto done = start(); !done || !ends_.empty())
                return done;
        sentAny_ = true;
        waiting_.push_back(&packet);
        return waiting_.size() < batch ? Result<void>{} : send();
    }
    Result<void> take(const Command& command) {
        if (auto done = send(); !done || !ends_.empty())
            return done;
        note(command.words);
        const auto plain = plain_.run(command.words);
        const auto fast = plain ? fast_.run(command.words) : plain;
        if (!fast)
            return std::unexpected(fast.error());
        if (*plain != *fast)
            differ(*compareLines(command.words, *plain, *fast));
        else if (!sentAny_ && !plain->starts_with("0 "))
            impossible(command.words + ": " + plain->substr(plain->find(' ') + 1));
        return case_.lazy ? path_.followWhereWatched() : path_.follow();
    }
    Result<void> take(const Directive& directive) {
        if (auto done = send(); !done || !ends_.empty())
            return done;
        const auto inBoth = [&](Result<void> (World::*set)(const std::string&, bool)) {
            auto done = (plain_.*set)(directive.port, directive.on);
            return done ? (fast_.*set)(directive.port, directive.on) : done;
        };
        switch (directive.verb) {
        case Verb::follow:
            return path_.follow();
        case Verb::start:
            return start();
        case Verb::stop:
            started_ = stopped_ = true;
            return path_.stop();
        case Verb::carrier:
            if (auto done = inBoth(&World::setCarrier); !done)
                return done;
            break;
        case Verb::capture:
            if (auto done = inBoth(&World::setCapture); !done)
                return done;
            break;
        case Verb::listen:
            if (auto done = inBoth(&World::setListener); !done)
                return done;
            break;
        case Verb::entry:
            if (auto done = changeEntry(directive.words); !done)
                return done;
            break;
        case Verb::wait:
            ::poll(nullptr, 0, std::atoi(directive.words.c_str()));
        }
        return case_.lazy ? path_.followWhereWatched() : path_.follow();
    }

    /// What else there is than links that route, and what sends frames elsewhere than out of ports.
    void note(const std::string& words) {
        bridges_ = bridges_ || words.contains("type bridge");
        const bool makes = words.contains("link add") || words.contains("tuntap") || words.contains("mirred");
        elsewhere_ = elsewhere_ || (makes && !words.contains("type bridge"));
    }

    Result<void> changeEntry(const std::string& words) {
        const auto order = entryOrder(words);
        const auto plain = order ? plain_.carryOut(*order) : std::unexpected(order.error());
        const auto fast = plain ? fast_.carryOut(*order) : plain;
        if (!fast)
            return std::unexpected(fast.error());
        if (*plain != *fast)
            differ(*compareLines(words, std::to_string(*plain), std::to_string(*fast)));
        return {};
    }

    Result<void> start() {
        startedAnew_ = stopped_;
        started_ = true;
        auto done = path_.start();
        // Once it has run here, there is no reason that it should not again.
        if (done || sentAny_ || !done.error().isForLackOfSomething())
            return done;
        impossible(done.error().sentence());
        return {};
    }
    Result<void> send() {
        if (waiting_.empty())
            return {};
        for (const auto* packet : waiting_) {
            int inPlain = plain_.send(packet->port, packet->frame);
            int inFast = fast_.send(packet->port, packet->frame);
            // Where one of them has no room, and the other has, the CPU's backlog was full of what others
            // send.
            for (unsigned i = 0; i < 1000 && inPlain != inFast; i++) {
                ::poll(nullptr, 0, 1);
                if (inPlain == ENOBUFS)
                    inPlain = plain_.send(packet->port, packet->frame);
                else if (inFast == ENOBUFS)
                    inFast = fast_.send(packet->port, packet->frame);
                else
                    break;
            }
            if (inPlain != inFast) {
                differ({0, case_.ports[packet->port],
                        fmt::format("  Linux: sending says {}\n  tna:   {}\n", inPlain, inFast)});
                break;
            }
        }
        outcome_.packets += waiting_.size();
        waiting_.clear();
        return look();
    }
    Result<void> look() {
        if (auto settled = far_.settle(); !settled)
            return settled;
        const auto plain = plain_.look();
        const auto fast = fast_.look();
        if (!plain || !fast)
            return std::unexpected(!plain ? plain.error() : fast.error());
        keep(*plain, *fast);
        if (auto different = compare(*plain, *fast, outcome_.reordered))
            differ(std::move(*different));
        return {};
    }
    void keep(const Seen& plain, const Seen& fast) {
        for (unsigned port = 0; port < case_.ports.size(); port++)
            for (const auto& [seen, kept] : {std::pair{&plain, &outcome_.plain}, {&fast, &outcome_.fast}}) {
                const auto found = seen->frames.find(case_.ports[port]);
                if (found == seen->frames.end())
                    continue;
                if (seen == &plain)
                    outcome_.out += found->second.size();
                else
                    for (const auto& frame : found->second)
                        lengths_.push_back(frame.size());
                for (const auto& frame : found->second)
                    if (options_.keep)
                        kept->push_back({port, frame});
            }
    }
    /// What the worlds remember in the end, and what they have counted.
    Result<void> end() {
        if (auto done = send(); !done || !ends_.empty())
            return done;
        if (case_.connections != 0) // tnad tells Linux about them when they are idle
            ::poll(nullptr, 0, 1500);
        const auto plain = plain_.memory();
        const auto fast = fast_.memory();
        if (!plain || !fast)
            return std::unexpected(!plain ? plain.error() : fast.error());
        if (auto different = compareMemory(*plain, *fast, startedAnew_))
            differ(std::move(*different));
        const auto inPlain = plain_.statistics("nf_conntrack"), inFast = fast_.statistics("nf_conntrack");
        if (inPlain && inFast)
            if (auto different = compareTimes(*inPlain, *inFast))
                differ(std::move(*different));
        for (const auto* file : {"snmp", "snmp6", "netstat"}) {
            const auto inPlain = plain_.statistics(file), inFast = fast_.statistics(file);
            if (!inPlain || !inFast || !ends_.empty())
                continue;
            if (auto different = compareLines(file, ownCounters(*inPlain), ownCounters(*inFast)))
                differ(std::move(*different));
        }
        return ends_.empty() ? count() : Result<void>{};
    }
    /// Whether the fast path's own counters are right.
    Result<void> count() {
        const auto figures = path_.figures();
        if (!figures)
            return std::unexpected(figures.error());
        if (elsewhere_)
            return {};
        if (auto different = compareCounted(lengths_, *figures))
            differ(std::move(*different));
        std::uint64_t plain = 0, fast = 0;
        for (const auto* file : {"snmp", "snmp6"}) {
            plain += forwardedBy(plain_.statistics(file).value_or(""));
            fast += forwardedBy(fast_.statistics(file).value_or(""));
        }
        if (auto different = bridges_ ? std::nullopt : compareForwarded(plain, fast, *figures))
            differ(std::move(*different));
        return {};
    }
    void differ(Difference what) {
        if (!ends_.empty())
            return;
        what.step = step_;
        ends_ = what.what.empty() ? "different" : what.what;
        outcome_.difference = std::move(what);
    }
    void impossible(std::string why) { ends_ = outcome_.impossible = std::move(why); }

    const FarSide& far_;
    const Case& case_;
    const Options& options_;
    World plain_;
    World fast_;
    FastPath path_;
    Outcome outcome_;
    std::string ends_; ///< why there is nothing more to do
    std::size_t step_ = 0;
    bool started_ = false; ///< or told not to
    bool stopped_ = false, startedAnew_ = false;
    bool sentAny_ = false;
    bool bridges_ = false;             ///< packets may also be bridged
    bool elsewhere_ = false;           ///< or go to what is no port of the case
    std::vector<std::size_t> lengths_; ///< of what came out with the fast path
    std::vector<const Packet*> waiting_;
};
} // namespace

Result<Stage> Stage::make() {
    auto far = FarSide::make();
    if (!far)
        return std::unexpected(far.error());
    return Stage(std::move(*far));
}

Result<Outcome> Stage::play(const Case& what, const Options& options) const {
    if (interrupted())
        return fail("interrupted");
    auto plain = World::make("linux", far_, what.ports);
    auto fast = plain ? World::make("tna", far_, what.ports) : Result<World>(std::unexpected(plain.error()));
    if (!fast)
        return std::unexpected(fast.error());
    return Play(far_, what, options, std::move(*plain), std::move(*fast)).run();
}

} // namespace tna::diff

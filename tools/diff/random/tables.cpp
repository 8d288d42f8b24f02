// SPDX-License-Identifier: Apache-2.0
// Many routes, as routers have them that talk to others, and as people write them.
#include "diff/random/extension.hpp"
#include "diff/random/prefix.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tna::diff {

namespace {
/// Where a packet may be led to, by a mistake, that is not the host itself.
bool usable(const Address6& bytes, bool six) {
    return six ? bytes[0] != 0xff && bytes[0] != 0xfe && bytes[0] != 0
               : bytes[0] != 0 && bytes[0] != 127 && bytes[0] < 224;
}

class TablesScenario : public Extension {
public:
    explicit TablesScenario(Chance& chance) : Extension(chance, anyRouter(chance)) {}

private:
    std::vector<std::string> more() override {
        // Most packets have a destination that nobody has asked for yet.
        topology().spread = {.newFlow = chance_.oneOf<unsigned>({2, 5, 20}), .far = 1, .fromFar = 3};
        if (chance_.once(4))
            topology().spread.far = 2;
        std::vector<std::string> lines{
            fmt::format("sysctl -qw net.ipv4.conf.all.rp_filter={}", chance_.oneOf({0, 0, 1, 2}))};
        const std::size_t wanted = chance_.once(40) ? chance_.oneOf<std::size_t>({10000, 100000})
                                                    : chance_.oneOf<std::size_t>({10, 30, 100, 300, 1000});
        for (std::size_t routes = 0; routes < wanted;) {
            const auto piece = this->piece(wanted / 4);
            routes += piece.lines.size();
            // Shorter commands, so that those are found that matter.
            constexpr std::size_t each = 64;
            const std::size_t step = wanted > 1000 ? 2048 : each;
            for (std::size_t at = 0; at < piece.lines.size(); at += step) {
                const auto begin = piece.lines.begin() + static_cast<std::ptrdiff_t>(at);
                lines.push_back(batch(piece.six, {begin, begin + static_cast<std::ptrdiff_t>(std::min(
                                                                     step, piece.lines.size() - at))}));
            }
        }
        return lines;
    }

    /// Routes that belong together.
    struct Piece {
        bool six;
        std::vector<std::string> lines;
    };

    Piece piece(std::size_t most) {
        Piece made{chance_.once(3), {}};
        const auto base = some(made.six);
        switch (chance_.below(8)) {
        case 0:
        case 1:
            nested(made, base);
            break;
        case 2:
            metrics(made, base);
            break;
        case 3:
            made.six ? metrics(made, base) : services(made, base);
            break;
        case 4:
            neighbours(made, base, most);
            break;
        case 5:
            forbidden(made, base);
            break;
        case 6:
            hosts(made, base);
            break;
        default:
            scattered(made, base, most);
        }
        return made;
    }

    /// One that others are at, in or beside: a new one, or one there is already.
    Prefix some(bool six) {
        auto& bases = six ? bases6_ : bases4_;
        if (!bases.empty() && chance_.once(3))
            return chance_.oneOf(bases);
        const Prefix made = chance_.once(8)
                                ? Prefix{six, {}, 0}
                                : Prefix{six, asBytes(0x20010000), six ? 16U : 0U}.within(
                                      chance_, six ? 20 + chance_.below(30) : 1 + chance_.below(20));
        bases.push_back(made);
        return made;
    }

    /// From short to long ones at one address: 100.0.0.0/8, /9, /10 and so on.
    void nested(Piece& piece, const Prefix& base) {
        const unsigned to = base.length + 2 + chance_.below(base.six ? 40 : 16);
        const auto usual = target(piece.six);
        for (unsigned length = base.length; length <= std::min(to, base.bits()); length++)
            if (!chance_.once(8))
                add(piece, base.cut(length), chance_.once(3) ? target(piece.six) : usual);
        if (chance_.once(2)) // a default route that all of it could fall back to
            add(piece, {base.six, {}, 0}, target(piece.six));
    }

    /// The same prefix with many metrics.
    void metrics(Piece& piece, const Prefix& base) {
        const auto at = base.within(chance_, std::min(base.bits(), base.length + chance_.below(8)));
        const unsigned first = chance_.below(1000);
        for (unsigned i = 0, count = 2 + chance_.below(20); i < count; i++)
            add(piece, at, fmt::format("{} metric {}", target(piece.six), first + 1 + i * 7));
    }

    /// The same prefix for many types of service.
    void services(Piece& piece, const Prefix& base) {
        const auto at = base.within(chance_, std::min(32U, base.length + chance_.below(8)));
        for (unsigned i = 0, count = 2 + chance_.below(20); i < count; i++)
            add(piece, at, target(false), fmt::format("tos {:#x}", 4 + 4 * chance_.below(7)));
        for (unsigned tos = 1; tos < 64; tos += 1 + chance_.below(12))
            add(piece, at, target(false), fmt::format("tos {:#x}", 4 * tos));
    }

    /// One beside the other, with holes.
    void neighbours(Piece& piece, const Prefix& base, std::size_t most) {
        auto at = base.within(chance_, std::min(base.bits(), base.length + 4 + chance_.below(5)));
        const auto usual = target(piece.six);
        for (std::size_t i = 0, count = 8 + chance_.below(std::max<std::size_t>(most, 56)); i < count; i++) {
            if (!chance_.once(6))
                add(piece, at, chance_.once(4) ? target(piece.six) : usual);
            at = at.after(1 + (chance_.once(5) ? chance_.below(3) : 0));
        }
    }

    /// What must not be reached within what may, and what may within that.
    void forbidden(Piece& piece, Prefix at) {
        for (unsigned i = 0, count = 2 + chance_.below(8); i < count && at.length < at.bits(); i++) {
            add(piece, at, i % 2 == 0 ? target(piece.six) : "",
                i % 2 == 0 ? "" : chance_.oneOf({"prohibit", "unreachable", "blackhole", "throw"}));
            const auto longer = std::min(at.bits(), at.length + 1 + chance_.below(6));
            at = chance_.once(2) ? at.cut(longer) : at.within(chance_, longer);
        }
    }

    void hosts(Piece& piece, const Prefix& base) {
        const auto net = base.within(chance_, std::max(base.length, base.bits() - 8));
        add(piece, net, target(piece.six));
        for (unsigned i = 0, count = 4 + chance_.below(40); i < count; i++)
            add(piece, net.within(chance_, base.bits()), target(piece.six));
    }

    /// Anywhere below one, of all lengths: they overlap as they like.
    void scattered(Piece& piece, const Prefix& base, std::size_t most) {
        for (std::size_t i = 0, count = 8 + chance_.below(std::max<std::size_t>(most, 40)); i < count; i++)
            add(piece, base.within(chance_, base.length + chance_.below(base.bits() - base.length) / 2),
                target(piece.six));
    }

    std::string target(bool six) {
        if (chance_.once(20))
            return fmt::format("nexthop via {} nexthop via {} weight 2", way(six), way(six));
        return "via " + way(six);
    }

    void add(Piece& piece, const Prefix& at, const std::string& target, const std::string& type = "") {
        const bool tos = type.starts_with("tos");
        piece.lines.push_back(fmt::format("route {} {} {}{} {}",
                                          chance_.oneOf({"replace", "append", "append", "prepend"}),
                                          tos ? "" : type, at.text(), tos ? " " + type : "", target));
        constexpr std::size_t enough = 20000;
        auto& topology = this->topology();
        if ((at.six ? topology.far6.size() : topology.far4.size()) >= enough)
            return;
        known_.push_back(at);
        for (const auto& edge : at.edges(chance_))
            if (usable(edge, at.six) && at.six)
                topology.far6.push_back(edge);
            else if (usable(edge, at.six))
                topology.far4.push_back(asAddress4(edge));
    }

    /// What is added later, and what goes again.
    std::vector<Step> ownChange() override {
        if (!known_.empty() && chance_.once(2)) {
            const auto at = chance_.oneOf(known_);
            const std::string ip = at.six ? "ip -6 route " : "ip route ";
            if (chance_.once(3))
                return commands({ip + "flush exact " + at.text()});
            if (chance_.once(2))
                return commands({ip + "del " + at.text()});
            return commands({ip + chance_.oneOf({"replace ", "append ", "prepend ", "change "}) + at.text() +
                             " " + target(at.six)});
        }
        const auto piece = this->piece(40);
        return commands({batch(piece.six, piece.lines)});
    }

    std::vector<Prefix> bases4_, bases6_, known_;
};
} // namespace

std::unique_ptr<Scenario> tablesScenario(Chance& chance) {
    return std::make_unique<TablesScenario>(chance);
}

} // namespace tna::diff

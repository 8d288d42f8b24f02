// SPDX-License-Identifier: Apache-2.0
// Queueing disciplines with their parameters, classes and filters, all that the running kernel accepts. What
// time decides is left out: rates are so low that what does not leave at once does not leave at all (and is
// dropped with its discipline, after few packets); no delays, no targets, no early drops by chance.
#include "diff/random/extension.hpp"
#include "diff/random/machine.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace tna::diff {

namespace {
struct Discipline {
    const char* words;
    const char* classes = nullptr; ///< commands that make classes 1:1 and 1:2; {} is the device
    bool slow = false;             ///< lets little through, for a while
};
constexpr Discipline disciplines[] = {
    {"pfifo limit 0"},
    {"pfifo limit 1000"},
    {"pfifo"},
    {"bfifo limit 0"},
    {"bfifo limit 200"},
    {"bfifo limit 1000"},
    {"bfifo limit 100000"},
    {"pfifo_fast"},
    {"pfifo_head_drop limit 0"},
    {"noqueue"},
    {"blackhole"},
    {"fq"},
    {"fq limit 0"},
    {"fq limit 1"},
    {"fq flow_limit 0"},
    {"fq flow_limit 1"},
    {"fq nopacing"},
    {"fq maxrate 8bit", nullptr, true},
    {"fq maxrate 80bit flow_limit 3", nullptr, true},
    {"fq quantum 1 initial_quantum 1"},
    {"fq orphan_mask 1 buckets 1"},
    {"fq_codel"},
    {"fq_codel limit 0"},
    {"fq_codel limit 1"},
    {"fq_codel memory_limit 1"},
    {"fq_codel memory_limit 1000"},
    {"fq_codel flows 1 quantum 1 noecn"},
    {"fq_codel drop_batch 1 limit 2"},
    {"codel limit 0"},
    {"codel limit 1"},
    {"codel"},
    {"sfq"},
    {"sfq limit 1"},
    {"sfq limit 2 depth 1 divisor 16"},
    {"sfq quantum 1"},
    {"tbf rate 800bit burst 200 limit 1"},
    {"tbf rate 800bit burst 3000 limit 100000", nullptr, true},
    {"tbf rate 800bit burst 1000 limit 1000", nullptr, true},
    {"tbf rate 100gbit burst 100 limit 100000"},
    {"red limit 200 min 50 max 150 avpkt 50 bandwidth 10mbit"},
    {"red limit 100000 min 20000 max 60000 avpkt 1000 bandwidth 10mbit"},
    {"netem loss 100%"},
    {"netem limit 0"},
    {"netem duplicate 100%"},
    {"netem"},
    {"netem rate 8bit", nullptr, true},
    {"prio"},
    {"prio bands 2 priomap 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0", "true"},
    {"prio bands 3 priomap 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2 2", "true"},
    {"htb", "tc class add dev {0} parent 1: classid 1:1 htb rate 100gbit; "
            "tc class add dev {0} parent 1: classid 1:2 htb rate 8bit burst 10 cburst 10"},
    {"htb default 1", "tc class add dev {0} parent 1: classid 1:1 htb rate 100gbit; "
                      "tc class add dev {0} parent 1: classid 1:2 htb rate 100gbit"},
    {"hfsc", "tc class add dev {0} parent 1: classid 1:1 hfsc ls m2 100gbit"},
    {"hfsc default 1", "tc class add dev {0} parent 1: classid 1:1 hfsc ls m2 100gbit"},
    {"drr", "tc class add dev {0} parent 1: classid 1:1 drr"},
    {"qfq", "tc class add dev {0} parent 1: classid 1:1 qfq weight 1"},
    {"mq", "true"},
    {"mqprio num_tc 2 map 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 queues 1@0 1@1 hw 0", "true"},
    {"multiq", "true"},
    {"ets bands 3 strict 1 quanta 1514 1514", "true"},
    {"skbprio limit 0"},
    {"skbprio limit 1"},
    {"hhf limit 0"},
    {"hhf"},
    {"choke limit 1 bandwidth 10mbit min 1 max 3 avpkt 1000"},
    {"pie limit 0"},
    {"pie limit 1000"},
    {"fq_pie limit 0"},
    {"sfb limit 0"},
    {"cake"},
    {"cake wash besteffort"},
    {"cake memlimit 1"},
    {"etf clockid CLOCK_TAI delta 1"},
    {"cbs idleslope 1 sendslope -1 hicredit 1 locredit -1"},
    {"plug"},
    {"gred setup DPs 2 default 0"},
    {"stab overhead 100 linklayer ethernet pfifo"},
    {"stab mtu 100 tsize 16 linklayer atm bfifo limit 200"},
};

constexpr const char* matches[] = {"matchall",
                                   "flower",
                                   "flower ip_proto udp",
                                   "flower ip_proto tcp dst_port 80",
                                   "flower src_mac 02:00:00:00:00:01",
                                   "u32 match u32 0 0",
                                   "u32 match ip protocol 17 0xff",
                                   "u32 match ip dst 10.0.1.0/24",
                                   "u32 match u16 0x0800 0xffff at -2",
                                   "basic",
                                   "basic match 'u8(u8 0 layer 1 at 0)'",
                                   "fw",
                                   "handle 1 fw",
                                   "bpf bytecode '1,6 0 0 4294967295'",
                                   "bpf bytecode '1,6 0 0 0'",
                                   "flow hash keys dst divisor 2",
                                   "cgroup",
                                   "route from 1"};
constexpr const char* actions[] = {"drop",
                                   "drop",
                                   "pass",
                                   "continue",
                                   "gact reclassify",
                                   "skbedit mark 1",
                                   "skbedit priority 1:1",
                                   "skbedit priority 1:2",
                                   "skbedit queue_mapping 1",
                                   "vlan push id 5",
                                   "vlan pop",
                                   "pedit ex munge eth dst set 02:00:00:00:00:77",
                                   "pedit ex munge ip ttl set 7 pipe csum ip",
                                   "csum ip",
                                   "mirred egress redirect dev p3",
                                   "mirred egress mirror dev p3",
                                   "mirred ingress redirect dev lo",
                                   "police rate 8kbit burst 200 drop",
                                   "police mtu 100 rate 100gbit burst 1mb drop",
                                   "nat egress 10.0.0.2/32 10.0.0.77",
                                   "mpls push label 100 protocol mpls_uc",
                                   "tunnel_key unset",
                                   "skbmod swap mac",
                                   "bpf bytecode '1,6 0 0 2'",
                                   "connmark",
                                   "ct"};

/// What of all this the kernel accepts, asked for once.
struct Accepted {
    std::vector<Discipline> disciplines;
    std::vector<std::string> matches, actions;
};

/// Those of these that a command accepts: {0} is the device, {1} what is tried.
std::vector<std::size_t> tried(const std::string& form, const std::vector<std::string>& all) {
    std::vector<std::string> commands;
    for (const auto& one : all)
        commands.push_back(fmt::format(fmt::runtime(form), "{0}", one));
    return accepted(commands);
}

Accepted tryAll() {
    Accepted made;
    std::vector<std::string> words;
    for (const auto& one : disciplines)
        words.emplace_back(one.words);
    for (const auto which : tried("tc qdisc add dev {0} root handle 1: {1}", words))
        made.disciplines.push_back(disciplines[which]);
    const std::string filter = "tc qdisc add dev {0} clsact && tc filter add dev {0} egress protocol all ";
    const auto keep = [](const std::string& form, const auto& all, std::vector<std::string>& into) {
        for (const auto which : tried(form, {std::begin(all), std::end(all)}))
            into.emplace_back(all[which]);
    };
    keep(filter + "{1} classid 1:1", matches, made.matches);
    keep(filter + "u32 match u32 0 0 action {1}", actions, made.actions);
    return made;
}

const Accepted& kernel() {
    static const Accepted found = tryAll();
    return found;
}

class QdiscScenario : public Extension {
public:
    explicit QdiscScenario(Chance& chance) : Extension(chance, anyUsual(chance)) {}

private:
    std::vector<Step> ownChange() override {
        const auto device = chance_.once(8) ? this->device() : port();
        switch (chance_.below(6)) {
        case 0: {
            const auto words = fmt::format("tc qdisc add dev {0} clsact; {1}", device,
                                           filter(device, chance_.oneOf({"ingress", "egress"})));
            if (blocks_.once(2))
                return sharedBlock();
            undoBy("tc qdisc del dev " + device + " clsact");
            return commands({words});
        }
        case 1: // the length of queues without a limit of their own
            undoBy(fmt::format("tc qdisc del dev {0} root; ip link set {0} txqueuelen 1000", device));
            return commands({fmt::format("ip link set {0} txqueuelen {1}; tc qdisc add dev {0} root {2}",
                                         device, chance_.below(2), discipline().words)});
        default:
            return commands({root(device)});
        }
    }

    /// A block of filters that belongs to one port, and then to another one as well, whose filters nobody
    /// announces.
    std::vector<Step> sharedBlock() {
        const auto first = blocks_.below(ports), second = (first + 1 + blocks_.below(ports - 1)) % ports;
        const auto action = blocks_.oneOf({"drop", "drop", "mirred egress redirect dev lo", "pass"});
        undoBy(fmt::format("tc qdisc del dev p{} clsact; tc qdisc del dev p{} clsact", first, second));
        auto steps =
            commands({fmt::format("tc qdisc add dev p{} ingress_block 5 clsact; tc filter add block 5 "
                                  "protocol all u32 match u32 0 0 flowid 1:1 action {}; "
                                  "tc qdisc add dev p{} clsact",
                                  first, action, second)});
        steps.emplace_back(Directive{Directive::Verb::follow, {}, false});
        steps.emplace_back(Command{fmt::format(
            "tc qdisc del dev p{0} clsact; tc qdisc add dev p{0} ingress_block 5 clsact", second)});
        return steps;
    }

    static constexpr std::uint64_t blocks = 7;
    Chance blocks_ = chance_.apart(blocks);

    const Discipline& discipline() {
        static constexpr Discipline fifo{"pfifo"};
        const auto& one = kernel().disciplines.empty() ? fifo : chance_.oneOf(kernel().disciplines);
        if (one.slow) // what is in it must not come out later
            nextAfter(40);
        return one;
    }

    /// A discipline, with what is in it.
    std::string root(const std::string& device) {
        const auto& chosen = discipline();
        undoBy(fmt::format("tc qdisc del dev {} root", device));
        auto words = fmt::format("tc qdisc {} dev {} root handle 1: {}", chance_.oneOf({"add", "replace"}),
                                 device, chosen.words);
        const bool classful = chosen.classes != nullptr;
        if (classful)
            words += "; " + fmt::format(fmt::runtime(chosen.classes), device);
        if (classful && chance_.once(2))
            words += fmt::format("; tc qdisc add dev {} parent 1:{} {}", device, 1 + chance_.below(2),
                                 discipline().words);
        if (classful ? !chance_.once(3) : chance_.once(2))
            words += "; " + filter(device, "parent 1:");
        if (chance_.once(8)) // changed in place
            words += fmt::format("; tc qdisc change dev {} root handle 1: {}", device, discipline().words);
        return words;
    }

    std::string filter(const std::string& device, const std::string& where) {
        static const std::vector<std::string> all{"u32 match u32 0 0"}, none{"drop"};
        auto words = fmt::format("tc filter add dev {} {} {}protocol {} {}", device, where,
                                 chance_.once(2) ? fmt::format("pref {} ", 1 + chance_.below(9)) : "",
                                 chance_.oneOf({"all", "all", "ip", "ipv6", "802.1Q"}),
                                 chance_.oneOf(kernel().matches.empty() ? all : kernel().matches));
        if (words.find(" flow ") == std::string::npos)
            words += chance_.oneOf({"", " classid 1:1", " classid 1:2", " classid 1:7"});
        if (!chance_.once(4))
            words += " action " + chance_.oneOf(kernel().actions.empty() ? none : kernel().actions);
        return words;
    }
};
} // namespace

std::unique_ptr<Scenario> qdiscScenario(Chance& chance) {
    return std::make_unique<QdiscScenario>(chance);
}

} // namespace tna::diff

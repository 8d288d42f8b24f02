// SPDX-License-Identifier: Apache-2.0
#include "introspect/introspector.hpp"

#include "introspect/counted_table.hpp"
#include "introspect/counts.hpp"
#include "introspect/filtering.hpp"
#include "introspect/ip_config.hpp"
#include "introspect/links.hpp"
#include "introspect/proc.hpp"
#include "introspect/traffic_control.hpp"

#include <cerrno>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <utility>

namespace tna::introspect {

namespace {
constexpr int settlingRounds = 8;
}

class Introspector::Impl {
public:
    Impl(netlink::Socket requests, netlink::Socket events, Ethtool ethtool, Proc proc, UniqueFd poll)
        : requests_(std::move(requests)), events_(std::move(events)), ethtool_(std::move(ethtool)),
          proc_(std::move(proc)), poll_(std::move(poll)) {}

    [[nodiscard]] const model::Network& network() const { return tracker_.network(); }
    [[nodiscard]] int pollFd() const { return poll_.get(); }
    [[nodiscard]] Stats stats() const { return stats_; }

    [[nodiscard]] Result<void> start(std::size_t receiveBuffer);
    [[nodiscard]] Result<Changes> process();
    [[nodiscard]] Result<void> resync();
    void suspect(model::IfIndex ifindex) { links_.suspect(ifindex); }
    void suspectAll() { suspected_ = true; }
    [[nodiscard]] Result<void> refreshSysctls() { return proc_.read(tracker_); }

private:
    [[nodiscard]] bool drain();
    void onEvent(const netlink::Message& message);
    [[nodiscard]] bool onLink(const netlink::Message& message);
    [[nodiscard]] Result<void> update();
    [[nodiscard]] Result<void> read();
    [[nodiscard]] Result<void> settle();
    [[nodiscard]] Result<void> watch(int fd);
    [[nodiscard]] Result<void> openTables();
    void suspectCounts();

    netlink::Socket requests_;
    netlink::Socket events_;
    Ethtool ethtool_;
    Proc proc_;
    UniqueFd poll_;
    Tracker tracker_;
    Links links_{requests_, ethtool_, tracker_};
    IpConfig ip_{requests_, tracker_};
    TrafficControl traffic_{requests_, tracker_};
    Filtering filtering_{tracker_};
    FdbCount fdb_{requests_, tracker_};
    std::vector<std::unique_ptr<CountedTable>> tables_;
    Stats stats_;
    bool capturing_ = false; ///< somebody may have begun or ended to capture
    bool lost_ = false;      ///< announcements, or what they hinted at
    bool behind_ = false;    ///< announcements wait still
    bool suspected_ = false; ///< all, to be different without an announcement
};

bool Introspector::Impl::onLink(const netlink::Message& message) {
    const auto header = message.header<ifinfomsg>();
    const auto ifindex = header ? static_cast<model::IfIndex>(header->ifi_index) : 0;
    const auto* known = network().link(ifindex);
    const std::string before = known == nullptr ? "" : known->rootQdisc;
    const auto wantedAll = known == nullptr ? 0 : known->promiscuity;
    const bool decoded = links_.onLink(message);
    known = network().link(ifindex);
    // Neither the disciplines that go along with a link nor those the kernel attaches are announced.
    if (known == nullptr || known->rootQdisc != before)
        traffic_.onQdisc();
    // Who captures is not announced, but most who do want all frames.
    capturing_ |= known != nullptr && known->promiscuity != wantedAll;
    suspectCounts();
    return decoded;
}

void Introspector::Impl::onEvent(const netlink::Message& message) {
    ++stats_.events;
    bool decoded = true;
    switch (message.type) {
    case RTM_NEWLINK:
    case RTM_DELLINK:
        decoded = onLink(message);
        break;
    case RTM_NEWVLAN:
    case RTM_DELVLAN:
        decoded = links_.onVlan(message);
        break;
    case RTM_NEWADDR:
    case RTM_DELADDR:
        decoded = ip_.onAddress(message);
        suspectCounts();
        break;
    case RTM_NEWNETCONF:
    case RTM_DELNETCONF:
        decoded = ip_.onNetconf(message);
        break;
    case RTM_NEWRULE:
    case RTM_DELRULE:
        ip_.onRule();
        break;
    case RTM_NEWQDISC:
    case RTM_DELQDISC:
        decoded = traffic_.onQdisc(message);
        break;
    case RTM_NEWTFILTER:
    case RTM_DELTFILTER:
        decoded = traffic_.onFilter(message);
        break;
    default:
        break;
    }
    if (!decoded)
        ++stats_.malformed;
}

void Introspector::Impl::suspectCounts() {
    for (const auto& table : tables_)
        table->suspect();
}

Result<void> Introspector::Impl::settle() {
    if (auto done = links_.settle(); !done)
        return done;
    if (auto done = ip_.settle(); !done)
        return done;
    return traffic_.settle();
}

/// Whether anything was announced.
bool Introspector::Impl::drain() {
    const auto drained = events_.drain([&](const netlink::Message& message) { onEvent(message); });
    behind_ = drained.rest;
    if (drained.lost) {
        ++stats_.overruns;
        lost_ = true;
    }
    return drained.any || lost_ || suspected_;
}

Result<Changes> Introspector::Impl::process() {
    bool resyncing = false;
    bool more = drain();
    // What was read because of one announcement may be newer than another one that has come meanwhile: two
    // ports as they never were at the same time. So this goes on until nothing has come, or until the next
    // call.
    for (int round = 1;; round++) {
        resyncing |= lost_;
        if (auto done = update(); !done) {
            // What was to be read is forgotten by now: the next call reads everything.
            lost_ = true;
            return std::unexpected(done.error());
        }
        lost_ = false;
        if (!more || round == settlingRounds)
            break;
        more = drain();
        if (!more)
            break;
    }
    Changes changes = tracker_.take();
    changes.behind = more || behind_ || filtering_.behind();
    changes.resynced = resyncing;
    return changes;
}

Result<void> Introspector::Impl::update() {
    const bool suspected = std::exchange(suspected_, false);
    if (auto done = lost_ ? resync() : suspected ? read() : settle(); !done)
        return done;
    if (std::exchange(capturing_, false))
        if (auto done = proc_.readCaptures(tracker_); !done)
            return done;
    if (links_.takeRenamed())
        filtering_.suspectTables();
    const auto filterEvents = filtering_.process();
    if (!filterEvents)
        return std::unexpected(filterEvents.error());
    stats_.events += *filterEvents;
    for (const auto& table : tables_)
        if (auto done = table->process(); !done)
            return done;
    return {};
}

Result<void> Introspector::Impl::resync() {
    ++stats_.resyncs;
    if (auto done = read(); !done)
        return done;
    suspectCounts();
    return {};
}

Result<void> Introspector::Impl::read() {
    if (auto done = links_.readAll(); !done)
        return done;
    if (auto done = ip_.readAll(); !done)
        return done;
    if (auto done = traffic_.readAll(); !done)
        return done;
    if (auto done = filtering_.readAll(); !done)
        return done;
    return proc_.read(tracker_);
}

Result<void> Introspector::Impl::watch(int fd) {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.fd = fd;
    if (epoll_ctl(poll_.get(), EPOLL_CTL_ADD, fd, &event) < 0)
        return failErrno(errno, "cannot watch a netlink socket");
    return {};
}

Result<void> Introspector::Impl::openTables() {
    const auto family = [](const netlink::Message& message) {
        return message.header<unsigned char>().value_or(0);
    };
    struct Table {
        std::vector<unsigned> groups;
        CountedTable::Filter concerns;
        CountedTable::Read count;
    };
    const Table fdb{{RTNLGRP_NEIGH},
                    [=](const netlink::Message& message) { return family(message) == AF_BRIDGE; },
                    [this] { return fdb_.step(); }};
    const Table neighbours{{RTNLGRP_NEIGH},
                           [=](const netlink::Message& message) { return family(message) != AF_BRIDGE; },
                           [this] { return countNeighbours(requests_, tracker_); }};
    const Table routes{{RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE},
                       [](const netlink::Message&) { return true; },
                       [this] { return countRoutes(requests_, tracker_); }};
    for (const auto* table : {&fdb, &neighbours, &routes}) {
        auto opened = CountedTable::open(poll_.get(), table->groups, table->concerns, table->count);
        if (!opened)
            return std::unexpected(opened.error());
        tables_.push_back(std::move(*opened));
    }
    return {};
}

Result<void> Introspector::Impl::start(std::size_t receiveBuffer) {
    // Listening starts before reading, so that nothing falls in between.
    if (auto joined = events_.join({RTNLGRP_LINK, RTNLGRP_BRVLAN, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR,
                                    RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV4_NETCONF,
                                    RTNLGRP_IPV6_NETCONF, RTNLGRP_TC});
        !joined)
        return joined;
    if (auto opened = filtering_.open(receiveBuffer); !opened)
        return opened;
    if (auto opened = openTables(); !opened)
        return opened;
    auto fds = filtering_.fds();
    fds.push_back(events_.fd());
    for (const int fd : fds)
        if (auto watched = watch(fd); !watched)
            return watched;
    if (auto read = resync(); !read)
        return read;
    // Small tables are counted by now; large ones go on with the calls of process().
    for (const auto& table : tables_)
        if (auto counted = table->process(); !counted)
            return counted;
    stats_ = {};
    [[maybe_unused]] const auto initial = tracker_.take();
    return {};
}

Introspector::Introspector(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Introspector::~Introspector() = default;

Result<std::unique_ptr<Introspector>> Introspector::open(const Options& options) {
    auto requests = netlink::Socket::open(NETLINK_ROUTE);
    if (!requests)
        return std::unexpected(requests.error());
    auto events = netlink::Socket::open(NETLINK_ROUTE, options.receiveBuffer);
    if (!events)
        return std::unexpected(events.error());
    auto ethtool = Ethtool::open();
    if (!ethtool)
        return std::unexpected(ethtool.error());
    auto proc = Proc::open();
    if (!proc)
        return std::unexpected(proc.error());
    UniqueFd poll(epoll_create1(EPOLL_CLOEXEC));
    if (!poll)
        return failErrno(errno, "cannot make an epoll instance");
    auto impl = std::make_unique<Impl>(std::move(*requests), std::move(*events), std::move(*ethtool),
                                       std::move(*proc), std::move(poll));
    if (auto started = impl->start(options.receiveBuffer); !started)
        return std::unexpected(started.error());
    return std::unique_ptr<Introspector>(new Introspector(std::move(impl)));
}

const model::Network& Introspector::network() const {
    return impl_->network();
}
int Introspector::pollFd() const {
    return impl_->pollFd();
}
Result<Changes> Introspector::process() {
    return impl_->process();
}
Result<void> Introspector::resync() {
    return impl_->resync();
}
Result<void> Introspector::refreshSysctls() {
    return impl_->refreshSysctls();
}
void Introspector::suspect(model::IfIndex ifindex) {
    impl_->suspect(ifindex);
}
void Introspector::suspectAll() {
    impl_->suspectAll();
}
Stats Introspector::stats() const {
    return impl_->stats();
}

} // namespace tna::introspect

// SPDX-License-Identifier: Apache-2.0
// What one process leaves to the next: as it does beneath systemd, which tests/service shows.
#include "netns/daemon/daemon_fixture.hpp"
#include "netns/daemon/descriptor_store.hpp"

#include "base/file.hpp"

#include <bpf/bpf.h>
#include <csignal>
#include <fcntl.h>
#include <map>
#include <net/if.h>

namespace tna::test {
namespace {

class Handover : public Daemon {
protected:
    void SetUp() override {
        Daemon::SetUp();
        if (!IsSkipped())
            store_.emplace(directory_ + "/notify");
    }
    /// A process has come and gone.
    void leave() {
        start(store_->prefix());
        ASSERT_TRUE(accelerated());
        ASSERT_EQ(end(SIGTERM), 0);
        ASSERT_TRUE(eventually([&] { return store_->size() == 2; })) << store_->size();
    }
    static bpf_link_info about(int link) {
        bpf_link_info info{};
        __u32 size = sizeof(info);
        EXPECT_EQ(bpf_obj_get_info_by_fd(link, &info, &size), 0);
        return info;
    }
    static std::string nameOf(__u32 program) {
        const UniqueFd fd{bpf_prog_get_fd_by_id(program)};
        bpf_prog_info info{};
        __u32 size = sizeof(info);
        return bpf_obj_get_info_by_fd(fd.get(), &info, &size) == 0 ? info.name : "";
    }
    /// The ids of what is left, by device.
    std::map<unsigned, unsigned> left() {
        std::map<unsigned, unsigned> ids;
        auto stored = store_->take();
        for (const auto& [name, fd] : stored) {
            const auto info = about(fd.get());
            EXPECT_EQ(info.type, kind_);
            ids[info.xdp.ifindex] = info.id;
        }
        store_->put(std::move(stored));
        return ids;
    }
    static UniqueFd linkOf(unsigned id) { return UniqueFd{bpf_link_get_fd_by_id(id)}; }

    std::optional<DescriptorStore> store_;
    __u32 kind_ = BPF_LINK_TYPE_XDP;
};

class HandoverAtTcx : public Handover {
protected:
    void SetUp() override {
        Handover::SetUp();
        if (IsSkipped())
            return;
        kind_ = 11; // BPF_LINK_TYPE_TCX
        ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = []\ntcx_kinds = [\"veth\"]\n"));
        start();
        const bool can = accelerated();
        EXPECT_EQ(end(SIGTERM), 0);
        if (!can)
            GTEST_SKIP() << "this kernel has no tcx, or is not read in place";
    }
};

TEST_F(Handover, WhatIsAttachedStaysAttached) {
    leave();
    const auto links = left();
    ASSERT_EQ(links.size(), 2U);
    for (const std::string port : {"p0", "p1"}) {
        EXPECT_TRUE(xdpOn(port));
        const auto link = linkOf(links.at(::if_nametoindex(port.c_str())));
        EXPECT_EQ(nameOf(about(link.get()).prog_id), "tna_pass") << "what leaves all to Linux";
    }
    expectForwarding();
    start(store_->prefix());
    ASSERT_TRUE(accelerated());
    EXPECT_EQ(store_->size(), 0U) << "kept by systemd, it would stay whatever becomes of the process";
    for (const auto& [device, id] : links) {
        const auto link = linkOf(id);
        ASSERT_TRUE(link) << "detached";
        const auto info = about(link.get());
        EXPECT_EQ(info.xdp.ifindex, device);
        EXPECT_NE(nameOf(info.prog_id), "tna_pass");
    }
    expectForwarding();
    EXPECT_EQ(end(SIGTERM), 0);
    EXPECT_TRUE(eventually([&] { return store_->size() == 2; })) << "left to the next one but one";
    EXPECT_EQ(left(), links);
}

TEST_F(HandoverAtTcx, WhatIsAttachedStaysAttachedAndIsGoneWithAProcessThatIsKilled) {
    leave();
    const auto links = left();
    ASSERT_EQ(links.size(), 2U);
    for (const auto& [device, id] : links)
        EXPECT_EQ(nameOf(about(linkOf(id).get()).prog_id), "tna_pass") << "what leaves all to Linux";
    expectForwarding();
    start(store_->prefix());
    ASSERT_TRUE(accelerated());
    for (const auto& [device, id] : links) {
        const auto link = linkOf(id);
        ASSERT_TRUE(link) << "detached";
        EXPECT_NE(nameOf(about(link.get()).prog_id), "tna_pass");
    }
    expectForwarding();
    EXPECT_EQ(end(SIGKILL), -1);
    for (const auto& [device, id] : links)
        EXPECT_TRUE(eventually([&] { return !linkOf(id); })) << "still attached";
    expectForwarding();
}

/// Numbers of devices mean something in one namespace only.
TEST_F(Handover, WhatBelongsToAnotherNamespaceIsLetGo) {
    leave();
    const auto links = left();
    auto stored = store_->take();
    for (auto& one : stored)
        one.name = "xdp-in-1";
    store_->put(std::move(stored));
    start(store_->prefix());
    ASSERT_TRUE(accelerated());
    EXPECT_EQ(store_->size(), 0U);
    for (const auto& [device, id] : links)
        EXPECT_FALSE(linkOf(id)) << "still attached";
    expectForwarding();
}

/// What is attached goes along with a device, and the kernel tells its index there.
TEST_F(Handover, WhatWentElsewhereIsNotTakenForThatOfAnotherDeviceWithItsIndex) {
    leave();
    const auto links = left();
    const auto index = ::if_nametoindex("p1");
    const Namespace elsewhere;
    must("ip link set p1 netns " + elsewhere.name());
    must("ip link add p1 index " + std::to_string(index) + " type veth peer name another");
    must("ip link set another up");
    must("ip link set p1 master br0 up");
    start(store_->prefix());
    ASSERT_TRUE(accelerated());
    EXPECT_TRUE(xdpOn("p1"));
    EXPECT_FALSE(linkOf(links.at(index))) << "still attached";
}

TEST_F(Handover, WhatIsNoLongerWantedIsDetached) {
    leave();
    ASSERT_TRUE(writeFile(directory_ + "/conf", "[ports]\nexclude_kinds = []\nexclude = [\"p1\"]\n"));
    start(store_->prefix());
    ASSERT_TRUE(eventually([&] { return stateOf("p0") == "accelerated"; }));
    EXPECT_TRUE(eventually([] { return !xdpOn("p1"); }));
    expectForwarding();
}

TEST_F(Handover, WhatIsNoneIsLetGo) {
    leave();
    auto stored = store_->take();
    for (auto& one : stored)
        one.fd.reset(::fcntl(UniqueFd{::open("/dev/null", O_RDONLY)}.get(), F_DUPFD, 200));
    store_->put(std::move(stored));
    start(store_->prefix());
    EXPECT_TRUE(accelerated());
    EXPECT_EQ(store_->size(), 0U);
    expectForwarding();
}

} // namespace
} // namespace tna::test

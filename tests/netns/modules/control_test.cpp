// SPDX-License-Identifier: Apache-2.0
// Custom modules that come, go, are exchanged, are refused, and survive.
#include "base/file.hpp"
#include "deploy/custom/module_object.hpp"
#include "modules_fixture.hpp"
#include "support/own_objects.hpp"
#include "support/traffic.hpp"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

namespace tna::test {
namespace {

using ::testing::HasSubstr;

class Control : public AcceleratedBridgeTest {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-modules-XXXXXX";
        directory_ = ::mkdtemp(pattern);
        config_.modules.directory = directory_;
        AcceleratedBridgeTest::SetUp();
    }
    void TearDown() override {
        std::error_code ignored;
        std::filesystem::remove_all(directory_, ignored);
    }
    void expectRefused(const std::string& object, const std::string& words) {
        const auto placed = controller_->modules().place("bad", object, {}, false);
        ASSERT_FALSE(placed);
        EXPECT_THAT(placed.error().sentence(), HasSubstr(words));
        EXPECT_EQ(send(oneToTwo()), fastPath()) << "the running path stays";
    }
    static Frame order(unsigned number) { return toUdpPort(oneToTwo(), number); }

    ModuleControl modules_{controller_};
    std::string directory_;
    const Path nobody_{};
};

TEST_F(Control, IsAsBeforeOnceRemoved) {
    modules_.insert("obedient", moduleObject("obedient"));
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody_, {}}));
    EXPECT_EQ(treat(order(7301)), (Treatment{fastPath(), {}}));
    EXPECT_GT(ownPrograms("tna_on_ingress"), 0U);
    modules_.remove("obedient");
    EXPECT_EQ(ownPrograms("tna_on_ingress"), 0U);
    for (const unsigned number : {7001U, 7101U, 7301U})
        EXPECT_EQ(treat(order(number)), (Treatment{fastPath(), {{1, {order(number)}}}}));
    EXPECT_EQ((*controller_->port("p0"))["port"]["profile"].get<std::string>().find("custom"),
              std::string::npos);
    EXPECT_FALSE(controller_->modules().remove("obedient").value_or(true));
}

/// Where they stand, and who comes first.
TEST_F(Control, StandsOnlyWhereItIsWanted) {
    modules_.insert("first", moduleObject("obedient"), {.hooks = {"ingress"}, .ports = {"p1"}});
    EXPECT_EQ(treat(order(7001)), (Treatment{fastPath(), {{1, {order(7001)}}}})) << "another port";
    const auto back = toUdpPort(twoToOne(), 7101);
    EXPECT_EQ(treat(back, 1), (Treatment{fastPath(), {{0, {back}}}})) << "another hook";
    const auto dropped = toUdpPort(twoToOne(), 7001);
    EXPECT_EQ(treat(dropped, 1), (Treatment{nobody_, {}}));
    modules_.insert("kinds", moduleObject("obedient"), {.kinds = {"dummy"}});
    EXPECT_EQ(send(order(7101)), fastPath()) << "another kind";
    modules_.insert("leaving", moduleObject("obedient"), {.hooks = {"egress"}, .ports = {"p1"}});
    EXPECT_EQ(treat(order(7301)), (Treatment{fastPath(), {}})) << "by the port that the frame leaves by";
    const auto other = toUdpPort(twoToOne(), 7301);
    EXPECT_EQ(treat(other, 1), (Treatment{fastPath(), {{0, {other}}}}));
}

TEST_F(Control, LowerPriorityComesFirst) {
    modules_.insert("later", moduleObject("obedient"), {.hooks = {"ingress"}, .priority = 20});
    modules_.insert("sooner", moduleObject("obedient"), {.hooks = {"ingress"}, .priority = 10});
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody_, {}}));
    EXPECT_EQ(send(oneToTwo()), fastPath());
    EXPECT_EQ(modules_.said("sooner", "ingress"), (Said{{"drop", 1}, {"continue", 1}}));
    EXPECT_EQ(modules_.said("later", "ingress"), (Said{{"continue", 1}}));
}

TEST_F(Control, NoFrameIsLostWhileModulesComeAndGo) {
    const auto object = moduleObject("obedient");
    Collector collector(far(1));
    Traffic traffic(far(0), oneToTwo());
    for (int round = 0; round < 4; round++) {
        modules_.insert("obedient", object);
        traffic.waitFor(10);
        modules_.replace("obedient", object, {.hooks = {"ingress", "egress"}});
        traffic.waitFor(10);
        modules_.remove("obedient");
        traffic.waitFor(10);
    }
    traffic.stop();
    settle();
    std::set<std::uint16_t> got;
    for (const auto& frame : collector.end())
        if (const auto number = traffic.numberOf(frame))
            got.insert(*number);
    for (const auto& frame : far(1).drain())
        if (const auto number = traffic.numberOf(frame))
            got.insert(*number);
    EXPECT_EQ(got.size(), traffic.sent());
    EXPECT_EQ(send(oneToTwo()), fastPath());
}

TEST_F(Control, RefusedModulesLeaveThePathAsItIs) {
    expectRefused(moduleObject("refused"), "invalid access to packet");
    expectRefused(moduleObject("tcx_alone"), "a function for tcx that it does not have for XDP");
    expectRefused(moduleObject("calling_back"), "function for ingress has callbacks");
    expectRefused("", "it is too short");
    expectRefused(std::string(2000, 'x'), "it is no ELF file");
    expectRefused(std::string((1U << 20U) + 1, 'x'), "too large");
    auto object = moduleObject("obedient");
    expectRefused(object.substr(0, object.size() / 2), "damaged");
    for (std::size_t at = 40; at < 64; at++) { // the rest of the header, byte by byte
        auto harmed = object;
        harmed[at] = '\xee';
        (void)controller_->modules().place("harmed", harmed, {}, false);
        (void)controller_->modules().remove("harmed");
    }
    EXPECT_EQ(send(oneToTwo()), fastPath());
    const auto hook =
        controller_->modules().place("bad", moduleObject("obedient"), {.hooks = {"nope"}}, false);
    ASSERT_FALSE(hook);
    EXPECT_THAT(hook.error().sentence(), HasSubstr("there is no hook 'nope'"));
}

/// The number is the only thing in the section "version".
TEST_F(Control, ModuleOfAnotherVersionIsRefused) {
    auto object = moduleObject("obedient");
    const std::uint32_t version = TNA_MODULE_VERSION;
    const auto at = object.find(std::string(reinterpret_cast<const char*>(&version), 4));
    ASSERT_NE(at, std::string::npos);
    for (const char other : {'\x02', '\x09'}) {
        object[at + 2] = other;
        expectRefused(object,
                      "was built with another version of tna/module.h (" + std::to_string(int{other}) + ".");
    }
    object[at + 2] = 3; // without functions for tcx
    modules_.insert("older", object);
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody_, {}})) << "what it was built with is taken still";
    modules_.remove("older");
    object[at + 2] = TNA_MODULE_ABI;
    object[at]++;
    expectRefused(object, "was built with another version");
}

TEST_F(Control, OneNameOneModule) {
    modules_.insert("obedient", moduleObject("obedient"));
    EXPECT_FALSE(controller_->modules().place("obedient", moduleObject("obedient"), {}, false));
    EXPECT_FALSE(controller_->modules().place("other", moduleObject("obedient"), {}, true));
    EXPECT_EQ(controller_->modules().place("obedient", moduleObject("refused"), {}, true).has_value(), false);
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody_, {}})) << "the old one stays";
}

/// Then what they had is not compared with what they leave.
TEST_F(Control, WhatOnlyLooksIsSeenToDoSo) {
    const auto mayChange = [](const std::string& object, tna_hook hook) {
        const auto module = deploy::ModuleObject::load("tried", object, deploy::buffersOfKernel());
        return module ? (*module)->mayChange(hook) : true;
    };
    EXPECT_FALSE(mayChange(exampleObject("monitor"), TNA_HOOK_INGRESS));
    EXPECT_FALSE(mayChange(exampleObject("sampler"), TNA_HOOK_BRIDGE));
    EXPECT_FALSE(mayChange(exampleObject("rate-limit"), TNA_HOOK_INGRESS));
    EXPECT_TRUE(mayChange(exampleObject("load-balancer"), TNA_HOOK_INGRESS));
    EXPECT_TRUE(mayChange(moduleObject("obedient"), TNA_HOOK_BRIDGE));
}

TEST_F(Control, ChainsHaveAnEnd) {
    for (int i = 0; i < 8; i++)
        modules_.insert("m" + std::to_string(i), moduleObject("obedient"));
    EXPECT_EQ(treat(oneToTwo()), (Treatment{fastPath(), {{1, {oneToTwo()}}}}));
    expectRefused(moduleObject("obedient"), "8 are the most");
}

TEST_F(Control, ModulesSurviveARestart) {
    modules_.insert("obedient", moduleObject("obedient"), {.hooks = {"ingress"}, .priority = 7});
    controller_.reset();
    accelerate();
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody_, {}}));
    EXPECT_EQ(send(order(7101)), fastPath()) << "its placement was kept, too";
    modules_.remove("obedient");
    controller_.reset();
    accelerate();
    EXPECT_EQ(send(order(7001)), fastPath());
}

/// Where a module and its placement cannot both be replaced, neither is.
TEST_F(Control, ModuleIsKeptWithItsOwnPlacement) {
    modules_.insert("obedient", moduleObject("obedient"), {.hooks = {"ingress"}});
    const auto block = directory_ + "/obedient.bpf.o.new";
    std::filesystem::create_directory(block);
    const auto other = moduleObject("obedient") + '\0';
    ASSERT_TRUE(controller_->modules().place("obedient", other, {.hooks = {"bridge"}}, true));
    controller_->setConfig(config_);
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody_, {}})) << "what nobody has changed brings nothing back";
    controller_.reset();
    accelerate();
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody_, {}})) << "the old one, where it was";
    EXPECT_EQ(send(order(7101)), fastPath());
    std::filesystem::remove(block);
    ASSERT_TRUE(controller_->modules().place("obedient", other, {.hooks = {"bridge"}}, true));
    controller_.reset();
    accelerate();
    EXPECT_EQ(send(order(7001)), fastPath()) << "the new one, elsewhere";
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody_, {}}));
    EXPECT_EQ(readFile(directory_ + "/obedient.json")->find("before"), std::string::npos)
        << "where another object is put by hand, what is there holds for it";
    std::filesystem::create_directory(block);
    ASSERT_TRUE(controller_->modules().place("obedient", moduleObject("obedient"), {}, true));
    std::filesystem::remove(block);
    EXPECT_TRUE(controller_->modules().remove("obedient").value_or(false));
    controller_.reset();
    accelerate();
    EXPECT_EQ(send(order(7101)), fastPath()) << "removed, with what it had taken the place of";
}

/// What lies there when the process ends just after it has replaced the module.
TEST_F(Control, ModuleHasItsNewPlacementAsSoonAsItIsThere) {
    modules_.insert("obedient", moduleObject("obedient"), {.hooks = {"ingress"}});
    const auto block = directory_ + "/obedient.bpf.o.new", placement = directory_ + "/obedient.json";
    const auto other = moduleObject("obedient") + '\0';
    std::filesystem::create_directory(block);
    ASSERT_TRUE(controller_->modules().place("obedient", other, {.hooks = {"bridge"}}, true));
    const auto between = readFile(placement);
    ASSERT_TRUE(between);
    std::filesystem::remove(block);
    ASSERT_TRUE(controller_->modules().place("obedient", other, {.hooks = {"bridge"}}, true));
    ASSERT_TRUE(writeFile(placement, *between));
    controller_.reset();
    accelerate();
    EXPECT_EQ(send(order(7001)), fastPath());
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody_, {}}));
}

TEST_F(Control, DirectoryIsReadAgainWithTheConfiguration) {
    ASSERT_TRUE(writeFile(directory_ + "/obedient.bpf.o", moduleObject("obedient")));
    ASSERT_TRUE(writeFile(directory_ + "/refused.bpf.o", moduleObject("refused")));
    controller_->setConfig(config_);
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody_, {}}));
    ASSERT_TRUE(writeFile(directory_ + "/obedient.json", R"({"hooks": ["ingress"]})"));
    controller_->setConfig(config_);
    EXPECT_EQ(send(order(7101)), fastPath());
    EXPECT_EQ(treat(order(7001)), (Treatment{nobody_, {}}));
    std::filesystem::remove(directory_ + "/obedient.bpf.o");
    controller_->setConfig(config_);
    EXPECT_EQ(send(order(7001)), fastPath());
}

TEST_F(Control, EventsTellWhatTheDirectoryHasBrought) {
    const auto lines = std::make_shared<api::LineSink>();
    controller_->follow(lines);
    const auto told = [&] {
        controller_->setConfig(config_);
        std::vector<std::string> events;
        std::istringstream text{lines->take()};
        for (std::string line; std::getline(text, line);)
            if (const auto event = nlohmann::json::parse(line); event["event"] == "module")
                events.push_back(event["action"].get<std::string>() + " " +
                                 event["module"].get<std::string>() + event.value("why", ""));
        return events;
    };
    ASSERT_TRUE(writeFile(directory_ + "/obedient.bpf.o", moduleObject("obedient")));
    EXPECT_EQ(told(), std::vector<std::string>{"inserted obedient"});
    ASSERT_TRUE(writeFile(directory_ + "/obedient.json", R"({"hook": ["ingress"]})"));
    EXPECT_THAT(told(), ::testing::ElementsAre(::testing::StartsWith("refused obedient" + directory_)));
    EXPECT_EQ(treat(order(7101)), (Treatment{nobody_, {}})) << "it is where it was";
    ASSERT_TRUE(writeFile(directory_ + "/obedient.json", R"({"hooks": ["ingress"]})"));
    EXPECT_EQ(told(), std::vector<std::string>{"replaced obedient"});
    std::filesystem::remove(directory_ + "/obedient.bpf.o");
    EXPECT_EQ(told(), std::vector<std::string>{"removed obedient"});
    EXPECT_EQ(told(), std::vector<std::string>{});
}

} // namespace
} // namespace tna::test

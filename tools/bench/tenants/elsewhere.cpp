// SPDX-License-Identifier: Apache-2.0
// The machine under test is another one: both sides of the command that is run there.
#include "bench/results/document.hpp"
#include "bench/tenants/conversation.hpp"
#include "bench/tenants/under_test.hpp"
#include "bench/testbed/devices.hpp"

#include <algorithm>
#include <map>

namespace tna::bench {

namespace {
using Talk = std::shared_ptr<Conversation>;

class CompanyElsewhere : public Company {
public:
    explicit CompanyElsewhere(Talk talk) : talk_(std::move(talk)) {}
    ~CompanyElsewhere() override { [[maybe_unused]] const auto ended = talk_->ask({{"do", "end tenants"}}); }
    unsigned running() override {
        const auto answer = talk_->ask({{"do", "count tenants"}});
        return answer ? answer->value("running", 0U) : 0;
    }

private:
    Talk talk_;
};

class DroppingElsewhere : public Dropping {
public:
    DroppingElsewhere(Talk talk, unsigned number) : talk_(std::move(talk)), number_(number) {}
    Result<Dropped> dropped() override {
        const auto answer = talk_->ask({{"do", "count frames"}, {"subject", number_}});
        if (!answer)
            return std::unexpected(answer.error());
        return Dropped{answer->value("frames", std::uint64_t{0}), answer->value("seconds", 0.0)};
    }
    Result<void> resume() override {
        const auto answer = talk_->ask({{"do", "resume"}, {"subject", number_}});
        return answer ? Result<void>{} : std::unexpected(answer.error());
    }
    void pause() override {
        [[maybe_unused]] const auto paused = talk_->ask({{"do", "pause"}, {"subject", number_}});
    }

private:
    Talk talk_;
    unsigned number_;
};

class Elsewhere : public UnderTest {
public:
    Elsewhere(Talk talk, std::string tx, nlohmann::json facts)
        : talk_(std::move(talk)), tx_(std::move(tx)), facts_(std::move(facts)) {}
    nlohmann::json machine() const override { return facts_["machine"]; }
    std::string whyNoTenants(Burden burden) const override {
        return facts_["missing"].value(std::string{nameOf(burden)}, "");
    }
    Result<std::unique_ptr<Company>> startTenants(Burden burden, unsigned count, double seconds) override {
        const auto started = talk_->ask(
            {{"do", "start tenants"}, {"burden", nameOf(burden)}, {"count", count}, {"seconds", seconds}});
        if (!started)
            return std::unexpected(started.error());
        return std::make_unique<CompanyElsewhere>(talk_);
    }
    Result<std::unique_ptr<Subject>> makeDropper(const std::string& name, unsigned times) override {
        const auto made = talk_->ask({{"do", "make"}, {"name", name}, {"checksums", times}});
        if (!made)
            return std::unexpected(made.error());
        auto place = DropPlace::make(times, {tx_, {}});
        if (!place)
            return std::unexpected(place.error());
        (*place)->setDeviceMac(facts_["mac"].get<std::array<unsigned char, 6>>());
        return bench::makeDropper(std::move(*place),
                                  std::make_unique<DroppingElsewhere>(talk_, made->value("subject", 0U)));
    }

private:
    Talk talk_;
    std::string tx_;
    nlohmann::json facts_;
};

/// Answers.
class Server {
public:
    Server(std::string device, Tenancy tenancy, std::array<unsigned char, 6> mac)
        : device_(std::move(device)), tenancy_(std::move(tenancy)), mac_(mac) {}
    nlohmann::json answer(const nlohmann::json& question) {
        const auto found = answers_.find(question.value("do", ""));
        if (found == answers_.end())
            return {
                {"error", fmt::format("{} is not understood: is there the same tna-bench on both machines?",
                                      question.dump())}};
        const auto answer = (this->*found->second)(question);
        return answer ? *answer : nlohmann::json{{"error", answer.error().sentence()}};
    }

private:
    using Answer = Result<nlohmann::json>;
    const std::map<std::string, Answer (Server::*)(const nlohmann::json&)> answers_{
        {"tell", &Server::tell},
        {"make", &Server::make},
        {"resume", &Server::resume},
        {"pause", &Server::pause},
        {"count frames", &Server::countFrames},
        {"start tenants", &Server::startTenants},
        {"count tenants", &Server::countTenants},
        {"end tenants", &Server::endTenants}};

    static Burden burdenOf(const nlohmann::json& question) {
        const auto place = std::ranges::find(burdenNames, question.value("burden", ""));
        return place == burdenNames.end() ? Burden::none : static_cast<Burden>(place - burdenNames.begin());
    }
    Dropping* droppingOf(const nlohmann::json& question) {
        const auto number = question.value("subject", 0U);
        return number < droppings_.size() ? droppings_[number].get() : nullptr;
    }

    Answer tell(const nlohmann::json&) {
        auto missing = nlohmann::json::object();
        for (const Burden burden : {Burden::cpu, Burden::disk, Burden::network})
            if (auto why = whyNoTenants(burden, tenancy_.vm); !why.empty())
                missing[std::string{nameOf(burden)}] = std::move(why);
        return nlohmann::json{{"mac", mac_}, {"machine", describeMachine()}, {"missing", std::move(missing)}};
    }
    Answer make(const nlohmann::json& question) {
        const auto times = question.value("checksums", 1U);
        auto place = DropPlace::make(times, {{}, device_});
        if (!place)
            return std::unexpected(place.error());
        auto made = makeDropping(question.value("name", ""), times, std::move(*place), tenancy_.pmd);
        if (!made)
            return std::unexpected(made.error());
        droppings_.push_back(std::move(*made));
        return nlohmann::json{{"subject", droppings_.size() - 1}};
    }
    Answer resume(const nlohmann::json& question) {
        auto* dropping = droppingOf(question);
        const auto resumed = dropping == nullptr ? fail("there is no such subject") : dropping->resume();
        return resumed ? Answer{nlohmann::json::object()} : std::unexpected(resumed.error());
    }
    Answer pause(const nlohmann::json& question) {
        if (auto* dropping = droppingOf(question))
            dropping->pause();
        return nlohmann::json::object();
    }
    Answer countFrames(const nlohmann::json& question) {
        auto* dropping = droppingOf(question);
        const auto dropped = dropping == nullptr ? fail("there is no such subject") : dropping->dropped();
        if (!dropped)
            return std::unexpected(dropped.error());
        return nlohmann::json{{"frames", dropped->frames}, {"seconds", dropped->seconds}};
    }
    Answer startTenants(const nlohmann::json& question) {
        tenants_.reset();
        auto started = Tenants::start(burdenOf(question), question.value("count", 0U), tenancy_.disk,
                                      question.value("seconds", 0.0), tenancy_.vm);
        if (!started)
            return std::unexpected(started.error());
        tenants_ = std::move(*started);
        return nlohmann::json::object();
    }
    Answer countTenants(const nlohmann::json&) {
        return nlohmann::json{{"running", tenants_ ? tenants_->running() : 0}};
    }
    Answer endTenants(const nlohmann::json&) {
        tenants_.reset();
        return nlohmann::json::object();
    }

    std::string device_;
    Tenancy tenancy_;
    std::array<unsigned char, 6> mac_;
    std::vector<std::unique_ptr<Dropping>> droppings_;
    std::unique_ptr<Company> tenants_;
};
} // namespace

Result<std::unique_ptr<UnderTest>> makeElsewhere(const Cabling& cabling) {
    auto talk = Conversation::begin(cabling.dut);
    if (!talk)
        return std::unexpected(talk.error());
    auto facts = (*talk)->ask({{"do", "tell"}});
    if (!facts)
        return std::unexpected(facts.error());
    const auto whole = [&](const char* name, nlohmann::json::value_t kind) {
        return facts->contains(name) && (*facts)[name].type() == kind;
    };
    if (!whole("mac", nlohmann::json::value_t::array) || (*facts)["mac"].size() != 6 ||
        !whole("machine", nlohmann::json::value_t::object) ||
        !whole("missing", nlohmann::json::value_t::object))
        return fail("'{}' does not say what it is", cabling.dut);
    return std::make_unique<Elsewhere>(std::move(*talk), cabling.tx, std::move(*facts));
}

Result<void> serveUnderTest(const std::string& device, const Tenancy& tenancy) {
    const auto mac = macIn(device) ? Result<std::array<unsigned char, 6>>{*macIn(device)} : macOf(device);
    if (!mac)
        return std::unexpected(mac.error());
    Server server{device, tenancy, *mac};
    converse([&](const nlohmann::json& question) { return server.answer(question); });
    return {};
}

} // namespace tna::bench

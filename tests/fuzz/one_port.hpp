// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"

#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>

namespace tna::test {

using Complaint = std::atomic<const char*>;

class NoModules : public api::ModuleBackend {
public:
    explicit NoModules(Complaint& complaint) : complaint_(complaint) {}

    nlohmann::json list() override { return nlohmann::json::object(); }
    std::optional<nlohmann::json> find(const std::string& name,
                                       const std::optional<std::string>& map) override {
        if (name.size() > 32)
            complaint_ = "no name of a module";
        return map ? std::nullopt : std::optional(nlohmann::json{{"name", name}});
    }
    Result<nlohmann::json> place(const std::string& name, const std::string& object, const api::Placement&,
                                 bool) override {
        if (name.find('/') != std::string::npos)
            complaint_ = "no name of a module";
        if (object.size() > std::size_t{1} << 20U)
            complaint_ = "too large an object";
        return fail("no modules here");
    }
    Result<bool> remove(const std::string&) override { return false; }

private:
    Complaint& complaint_;
};

class NoFunctions : public api::FunctionBackend {
public:
    nlohmann::json list() override { return nlohmann::json::object(); }
    std::optional<nlohmann::json> find(const std::string&) override { return std::nullopt; }
    Result<nlohmann::json> declare(const std::string& name, const std::string&) override {
        return fail("no function '{}' here", name);
    }
    Result<bool> remove(const std::string&) override { return false; }
    Result<bool> bypass(const std::string&, bool) override { return false; }
};

/// Answers like a daemon that has one port, p0.
class OnePort : public api::Backend {
public:
    nlohmann::json status() override {
        const nlohmann::json port{{"name", "p0"},          {"state", "accelerated"},
                                  {"fast_packets", 1},     {"fast_bytes", 1},
                                  {"fast_out_packets", 1}, {"fast_out_bytes", 1},
                                  {"slow_packets", 1},     {"slow_reasons", {{"capture", 1}}}};
        return {{"api", 1},
                {"version", "1"},
                {"fdb", "in place"},
                {"uptime_s", 1},
                {"events", {{"swaps", 1}, {"last_swap_us", 1}, {"failures", 0}, {"fdb_readings", 0}}},
                {"ports", {port}}};
    }
    std::optional<nlohmann::json> port(const std::string& name) override {
        expect(name.size() <= 64 && name.find('/') == std::string::npos, "no name of a port");
        return name == "p0" ? std::optional(nlohmann::json{{"port", name}}) : std::nullopt;
    }
    Result<nlohmann::json> route(const std::string& port, const std::string&, const std::string&) override {
        expect(port.find('/') == std::string::npos, "no name of a port");
        return fail("no routes here");
    }
    nlohmann::json events() override { return nlohmann::json::object(); }
    void follow(const std::shared_ptr<api::LineSink>& lines) override { lines->put("{}"); }
    Result<std::shared_ptr<void>> trace(const api::TraceWish& wish,
                                        const std::shared_ptr<api::LineSink>&) override {
        return fail("nothing to trace of {}, one in {}", wish.port.value_or("all"), wish.oneIn);
    }
    nlohmann::json graph() override { return nlohmann::json::object(); }
    nlohmann::json capabilities() override { return nlohmann::json::object(); }
    nlohmann::json rules() override { return nlohmann::json::object(); }
    bool pause(const std::optional<std::string>& port, bool) override {
        changes++;
        return !port || *port == "p0";
    }
    api::ModuleBackend& modules() override { return modules_; }
    api::FunctionBackend& functions() override { return functions_; }
    std::atomic<unsigned> changes = 0;
    /// What no server should have let through.
    Complaint complaint = nullptr;

private:
    void expect(bool holds, const char* what) {
        if (!holds)
            complaint = what;
    }

    NoModules modules_{complaint};
    NoFunctions functions_;
};

} // namespace tna::test

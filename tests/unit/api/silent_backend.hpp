// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/backend.hpp"

#include <atomic>
#include <nlohmann/json.hpp>

namespace tna::test {

/// Has nothing to tell, and counts what it is to change.
class SilentBackend : public api::Backend {
public:
    nlohmann::json status() override { return {{"api", 1}}; }
    std::optional<nlohmann::json> port(const std::string&) override { return std::nullopt; }
    Result<nlohmann::json> route(const std::string&, const std::string&, const std::string&) override {
        return fail("no routes here");
    }
    nlohmann::json events() override { return nlohmann::json::object(); }
    void follow(const std::shared_ptr<api::LineSink>& lines) override {
        lines->put("{}");
        followed = lines;
    }
    Result<std::shared_ptr<void>> trace(const api::TraceWish& wish,
                                        const std::shared_ptr<api::LineSink>&) override {
        return fail("nothing to trace of {}, one in {}", wish.port.value_or("all"), wish.oneIn);
    }
    nlohmann::json graph() override { return {{"padding", padding}}; }
    nlohmann::json capabilities() override { return nlohmann::json::object(); }
    nlohmann::json rules() override { return nlohmann::json::object(); }
    bool pause(const std::optional<std::string>&, bool) override { return ++changes > 0; }
    api::ModuleBackend& modules() override { return modules_; }
    api::FunctionBackend& functions() override { return functions_; }

    std::atomic<int> changes = 0;
    std::weak_ptr<api::LineSink> followed;
    std::string padding;
    std::string placed; ///< a custom module
    api::Placement placedAt;

private:
    class Modules : public api::ModuleBackend {
    public:
        explicit Modules(SilentBackend& all) : all_(all) {}
        nlohmann::json list() override { return nlohmann::json::object(); }
        std::optional<nlohmann::json> find(const std::string&, const std::optional<std::string>&) override {
            return std::nullopt;
        }
        Result<nlohmann::json> place(const std::string&, const std::string& object,
                                     const api::Placement& placement, bool) override {
            all_.changes++;
            all_.placed = object;
            all_.placedAt = placement;
            return nlohmann::json::object();
        }
        Result<bool> remove(const std::string&) override { return ++all_.changes > 0; }

    private:
        SilentBackend& all_;
    };
    class Functions : public api::FunctionBackend {
    public:
        explicit Functions(SilentBackend& all) : all_(all) {}
        nlohmann::json list() override { return nlohmann::json::object(); }
        std::optional<nlohmann::json> find(const std::string&) override { return std::nullopt; }
        Result<nlohmann::json> declare(const std::string&, const std::string&) override {
            all_.changes++;
            return nlohmann::json::object();
        }
        Result<bool> remove(const std::string&) override { return ++all_.changes > 0; }
        Result<bool> bypass(const std::string&, bool) override { return ++all_.changes > 0; }

    private:
        SilentBackend& all_;
    };

    Modules modules_{*this};
    Functions functions_{*this};
};

} // namespace tna::test

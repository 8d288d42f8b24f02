// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/answerer.hpp"

#include <functional>
#include <httplib.h>

namespace tna::api {

/// The library's parser and router, between a request and an answer in memory: its own connections would
/// each keep a thread for as long as they are open.
class Http : public httplib::Server, public Answerer {
public:
    /// How long a body may be.
    using Limit = std::function<std::size_t(const Peer&)>;
    /// Who may do more than look.
    using Rule = std::function<bool(const Peer&)>;
    explicit Http(
        Limit limit, Rule mayChange = [](const Peer&) { return false; })
        : limit_(std::move(limit)), mayChange_(std::move(mayChange)) {}

    /// Whose request this thread is answering.
    [[nodiscard]] static const Peer& peer();
    /// What is answered to it are lines, instead of what else the handler says.
    static void answerWith(Stream stream);

    Answer answer(const Peer& peer, const std::string& request) override;
    [[nodiscard]] std::size_t largestBody(const Peer& peer) const override { return limit_(peer); }
    [[nodiscard]] bool mayChange(const Peer& peer) const override { return mayChange_(peer); }

private:
    Limit limit_;
    Rule mayChange_;
};

} // namespace tna::api

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench/testbed/process.hpp"
#include "bench/testbed/temporary_folder.hpp"

#include <nlohmann/json.hpp>

namespace tna::bench {

/// With a command that answers each line of JSON with one. It ends with its standard input.
class Conversation {
public:
    [[nodiscard]] static Result<std::shared_ptr<Conversation>> begin(const std::string& command);
    /// The answer; or what it could not do, in its words.
    [[nodiscard]] Result<nlohmann::json> ask(const nlohmann::json& question);
    Conversation(const Conversation&) = delete;
    Conversation& operator=(const Conversation&) = delete;
    ~Conversation() { process_.endByInput(); }

private:
    Conversation(std::string command, TemporaryFolder folder, Process process)
        : command_(std::move(command)), folder_(std::move(folder)), process_(std::move(process)) {}
    /// What has been answered since then; nothing if that is not all yet.
    [[nodiscard]] std::optional<nlohmann::json> nextAnswer();
    [[nodiscard]] std::string log() const { return folder_.path() + "/log"; }

    std::string command_;
    TemporaryFolder folder_;
    Process process_;
    std::size_t read_ = 0; ///< bytes of the log
    unsigned asked_ = 0;
};

/// The other side, on standard input and output.
void converse(const std::function<nlohmann::json(const nlohmann::json& question)>& answer);

} // namespace tna::bench

// SPDX-License-Identifier: Apache-2.0
#include "bench/tenants/conversation.hpp"

#include "base/file.hpp"

#include <array>
#include <cstdio>
#include <poll.h>
#include <thread>
#include <unistd.h>

namespace tna::bench {

namespace {
/// Tenants take a while to start.
constexpr auto patience = std::chrono::seconds(180);
constexpr auto aWhile = std::chrono::milliseconds(1);
} // namespace

Result<std::shared_ptr<Conversation>> Conversation::begin(const std::string& command) {
    auto folder = TemporaryFolder::make();
    if (!folder)
        return std::unexpected(folder.error());
    auto process = Process::start({"sh", "-c", "exec " + command}, folder->path() + "/log");
    if (!process)
        return std::unexpected(process.error());
    return std::shared_ptr<Conversation>(new Conversation(command, std::move(*folder), std::move(*process)));
}

/// Whatever else is said, by a shell or by ssh, is no answer: it does not have the question's number.
std::optional<nlohmann::json> Conversation::nextAnswer() {
    const auto text = readFile(log()).value_or("");
    for (auto end = text.find('\n', read_); end != std::string::npos; end = text.find('\n', read_)) {
        auto line = nlohmann::json::parse(text.begin() + static_cast<std::ptrdiff_t>(read_),
                                          text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
        read_ = end + 1;
        if (line.is_object() && line.value("question", 0U) == asked_)
            return line;
    }
    return {};
}

Result<nlohmann::json> Conversation::ask(const nlohmann::json& question) {
    auto numbered = question;
    numbered["question"] = ++asked_;
    // Whether that was of use is seen by the answer.
    [[maybe_unused]] const auto told = process_.tell(numbered.dump() + '\n');
    const auto deadline = std::chrono::steady_clock::now() + patience;
    for (;; std::this_thread::sleep_for(aWhile)) {
        const bool runs = process_.running();
        if (auto answer = nextAnswer()) {
            if (answer->contains("error"))
                return fail("{}", (*answer)["error"].get<std::string>());
            return std::move(*answer);
        }
        if (!runs)
            return fail("'{}' ended: {}", command_, lastLine(log()));
        if (std::chrono::steady_clock::now() > deadline)
            return fail("'{}' does not answer in {} s: {}", command_, patience.count(), lastLine(log()));
    }
}

void converse(const std::function<nlohmann::json(const nlohmann::json& question)>& answer) {
    std::string text;
    pollfd input{STDIN_FILENO, POLLIN, 0};
    // A signal ends it as the end of the input does.
    while (::poll(&input, 1, -1) > 0) {
        std::array<char, 4096> some{};
        const auto length = ::read(STDIN_FILENO, some.data(), some.size());
        if (length <= 0)
            return;
        text.append(some.data(), static_cast<std::size_t>(length));
        for (auto end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
            const auto question = nlohmann::json::parse(text.substr(0, end), nullptr, false);
            text.erase(0, end + 1);
            auto found =
                question.is_object() ? answer(question) : nlohmann::json{{"error", "that is no question"}};
            found["question"] = question.is_object() ? question.value("question", 0U) : 0U;
            fmt::print("{}\n", found.dump());
            std::fflush(stdout);
        }
    }
}

} // namespace tna::bench

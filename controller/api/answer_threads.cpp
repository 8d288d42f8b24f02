// SPDX-License-Identifier: Apache-2.0
#include "api/answer_threads.hpp"

#include "api/framing.hpp"

namespace tna::api {

namespace {
constexpr std::size_t lookerThreads = 3;
constexpr std::size_t keptThreads = 1; ///< for those who may change something
} // namespace

AnswerThreads::AnswerThreads(Answerer& answerer, std::function<void()> ready)
    : answerer_(answerer), ready_(std::move(ready)), lookerTurns_(lookerThreads, keptThreads),
      changerTurns_(1), lookers_(lookerThreads), changers_(1) {}

void AnswerThreads::ask(std::uint64_t id, Request request) {
    const auto looks = request.looks;
    turns(looks).wait(id, request.peer.user, request.mayChange);
    waiting_.emplace(id, std::move(request));
    startWaiting(looks);
}

void AnswerThreads::withdraw(std::uint64_t id) {
    if (const auto gone = waiting_.extract(id))
        turns(gone.mapped().looks).leave(id, gone.mapped().peer.user, gone.mapped().mayChange);
}

void AnswerThreads::startWaiting(bool looks) {
    while (const auto id = turns(looks).next()) {
        auto request = std::move(waiting_.extract(*id).mapped()); // who has gone does not wait
        (looks ? lookers_ : changers_).enqueue([this, id = *id, request = std::move(request)] {
            auto answer = answerer_.answer(request.peer, request.text);
            // It has been given when it was waited for.
            if (answer.bytes.starts_with(interimAnswer))
                answer.bytes.erase(0, interimAnswer.size());
            const std::lock_guard lock{mutex_};
            done_.push_back({request.looks, request.mayChange, {id, std::move(answer)}});
            ready_();
        });
    }
}

std::vector<AnswerThreads::Answered> AnswerThreads::take() {
    std::vector<Done> done;
    {
        const std::lock_guard lock{mutex_};
        done.swap(done_);
    }
    std::vector<Answered> answers;
    for (auto& [looks, mayChange, answered] : done) {
        turns(looks).done(mayChange);
        startWaiting(looks);
        answers.push_back(std::move(answered));
    }
    return answers;
}

void AnswerThreads::destroy(std::shared_ptr<void> source) {
    if (source)
        changers_.enqueue([source = std::move(source)]() mutable { source.reset(); });
}

} // namespace tna::api

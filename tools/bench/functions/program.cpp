// SPDX-License-Identifier: Apache-2.0
#include "bench/functions/program.hpp"

#include "bench/traffic/traffic.hpp"

#include <sched.h>
#include <sys/resource.h>

namespace tna::bench {

namespace {
/// What is started while this lives runs on one processor.
class StartedOn {
public:
    explicit StartedOn(unsigned cpu) {
        ::sched_getaffinity(0, sizeof(before_), &before_);
        pinTo(cpu);
    }
    ~StartedOn() { ::sched_setaffinity(0, sizeof(before_), &before_); }
    StartedOn(const StartedOn&) = delete;
    StartedOn& operator=(const StartedOn&) = delete;

private:
    cpu_set_t before_{};
};
} // namespace

Result<ProgramUnderTest> ProgramUnderTest::start(const FarSide& side, const std::vector<std::string>& words,
                                                 const std::string& errors) {
    constexpr std::uint64_t bytes = 4ULL << 30U;
    static unsigned number = 0;
    const bool first = ::getpriority(PRIO_PROCESS, 0) < 0;
    auto group = ControlGroup::make(fmt::format("function{}", number++),
                                    {.bytes = bytes, .processes = 64, .first = first});
    if (!group)
        return std::unexpected(group.error());
    const StartedOn processor{side.userCpu()};
    auto process = Process::start(group->inside("", words), errors);
    if (!process)
        return std::unexpected(process.error());
    return ProgramUnderTest{std::move(*group), std::move(*process)};
}

} // namespace tna::bench

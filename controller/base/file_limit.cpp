// SPDX-License-Identifier: Apache-2.0
#include "base/file_limit.hpp"

#include <cerrno>
#include <sys/resource.h>

namespace tna {

Result<void> raiseFileLimit(const char* program, unsigned least) {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return failErrno(errno, "cannot ask how many files may be open");
    if (limit.rlim_max < least)
        return std::unexpected(Error{
            fmt::format("no more than {} files may be open, {} needs {}", limit.rlim_max, program, least),
            {},
            "raise the limit: LimitNOFILE= in the unit, or `ulimit -n`"});
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    return {};
}

} // namespace tna

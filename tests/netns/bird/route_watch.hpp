// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/unique_fd.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tna::test {

/// The prefixes that are announced, by number: 20.0.0.0/24 and those after it, or fd20::/48 and those after
/// it.
struct Prefixes {
    int family; ///< AF_INET or AF_INET6
    unsigned count;

    [[nodiscard]] std::string text(unsigned number) const;
    /// An address in it.
    [[nodiscard]] std::string host(unsigned number) const;
};

/// Follows what the kernel announces about the routes to these prefixes, in the calling thread's namespace.
class RouteWatch {
public:
    explicit RouteWatch(const Prefixes& prefixes);

    /// Takes in what has been announced.
    void drain();
    /// The interface that a prefix is routed by, as far as the kernel has told; 0 for none.
    [[nodiscard]] unsigned interfaceOf(unsigned prefix) const { return interfaces_.at(prefix); }
    [[nodiscard]] bool allBy(unsigned interface) const;

private:
    void take(const char* bytes, std::size_t length);
    [[nodiscard]] std::optional<unsigned> numberOf(const void* address, std::size_t length) const;

    Prefixes prefixes_;
    UniqueFd socket_;
    std::vector<unsigned> interfaces_;
};

} // namespace tna::test

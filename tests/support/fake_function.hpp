// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/frame.hpp"

#include <tna/function.h>
#include <vector>

/// libtna-function (tna/function.h) without tnad: what a program receives, and what becomes of it, is a
/// test's to say and to see. It takes the library's place in the test's program.
namespace tna::test {

struct FakeFunction {
    std::vector<Frame> toReceive; ///< by port 0, with the next call
    unsigned room = 1000;         ///< for frames that are sent or given back: a full ring has none
    unsigned places = 1000;       ///< for frames that are new
    std::vector<Frame> sent;
    std::vector<Frame> givenBack;
    unsigned dropped = 0;
    unsigned lent = 0; ///< frames that are the program's now
};

/// The one that all calls are about.
FakeFunction& fakeFunction();

} // namespace tna::test

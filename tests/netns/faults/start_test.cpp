// SPDX-License-Identifier: Apache-2.0
// Calls that fail while the controller starts: it gives up with a reason, or what it could not do is left to
// Linux.
#include "faults_fixture.hpp"

#include <cerrno>

namespace tna::test {
namespace {

struct Case {
    const char* fdb;
    Call call;
    int error;
};

class Start : public FaultsTest, public ::testing::WithParamInterface<Case> {};

TEST_P(Start, EndsWithReasonsOrInOrder) {
    config_.kernel.fdb = GetParam().fdb;
    eachCall(GetParam().call, GetParam().error,
             {.act = [&] { startAgain(); },
              .check =
                  [&] {
                      expectReasons();
                      expectAsPlainLinux();
                      expectRecovery();
                      expectAsPlainLinux();
                  }});
}

std::string nameOf(const ::testing::TestParamInfo<Case>& info) {
    const std::map<Call, std::string> calls{
        {Call::bpf, "Bpf"}, {Call::netlink, "Netlink"}, {Call::file, "Files"}};
    return (std::string(info.param.fdb) == "mirror" ? "Mirror" : "InPlace") + calls.at(info.param.call) +
           std::to_string(info.param.error);
}

INSTANTIATE_TEST_SUITE_P(
    Faults, Start,
    ::testing::Values(Case{"auto", Call::bpf, ENOMEM}, Case{"auto", Call::bpf, EPERM},
                      Case{"auto", Call::netlink, ENOBUFS}, Case{"auto", Call::file, EMFILE},
                      Case{"mirror", Call::bpf, ENOMEM}, Case{"mirror", Call::bpf, EPERM},
                      Case{"mirror", Call::netlink, ENOBUFS}, Case{"mirror", Call::file, EMFILE}),
    nameOf);

} // namespace
} // namespace tna::test

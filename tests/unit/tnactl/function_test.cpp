// SPDX-License-Identifier: Apache-2.0
#include "tnactl/function_command.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tna::ctl {
namespace {

using nlohmann::json;

json dns() {
    return {{"name", "dns"},
            {"state", "full"},
            {"ports",
             {{{"name", "p0"}, {"there", true}},
              {{"name", "p1"}, {"there", false}},
              {{"name", "p2"}, {"there", true}, {"against", "it is at tcx"}}}},
            {"unknown", {"user 'nobdoy'"}},
            {"queues", {0, 1}},
            {"frames", 4096},
            {"frame_size", 2048},
            {"mode", "auto"},
            {"given_back", "next"},
            {"otherwise", "linux"},
            {"from_file", true},
            {"rules",
             {{{"rule", 1}, {"priority", 7}, {"packets", 5U}, {"bytes", 300U}, {"otherwise", 1U}},
              {{"rule", 2}, {"priority", 100}, {"packets", 2U}, {"bytes", 120U}, {"otherwise", 0U}}}},
            {"connections",
             {{{"process", 42},
               {"user", 65534},
               {"sockets",
                {{{"port", "p0"},
                  {"queue", 0},
                  {"zero_copy", false},
                  {"full", true},
                  {"packets", 7},
                  {"no_room", 1},
                  {"too_long", 0}}}}}}}};
}

TEST(Functions, ListSaysWhoHasConnectedAndWhatTheyGot) {
    EXPECT_EQ(
        renderFunctions({{"functions", {dns()}}, {"no_way_back", nullptr}}),
        "FUNCTION  STATE  PORTS                               PROCESSES  PACKETS  OTHERWISE  DECLARED BY\n"
        "dns       full   p0,p1 (not there),p2 (not steered)          1        7          1  file\n");
    EXPECT_EQ(renderFunctions({{"functions", json::array()}}), "There are no network functions.\n");
    const auto text = renderFunctions({{"functions", {dns()}}, {"no_way_back", "there is no tcx"}});
    EXPECT_TRUE(text.ends_with("\nFrames cannot be given back to Linux: there is no tcx\n")) << text;
}

TEST(Functions, OneIsShownWithItsRulesAndSockets) {
    EXPECT_EQ(renderFunction(dns()),
              "dns: full, it does not take what it is given, and gets no more until it does\n"
              "ports p0,p1 (not there),p2 (not steered), queues [0,1], 4096 frames of 2048 bytes, mode auto, "
              "otherwise linux, given back next\nit is at tcx\nthere is no user 'nobdoy' here (yet)\n"
              "\n"
              "RULE  PRIORITY  PACKETS  BYTES  OTHERWISE\n"
              "   1         7        5    300          1\n"
              "   2       100        2    120          0\n"
              "\n"
              "PROCESS   USER  PORT  QUEUE  ZERO COPY  FULL  PACKETS  NO ROOM  TOO LONG\n"
              "     42  65534  p0        0  no         yes         7        1         0\n");
}

TEST(Functions, HostileDocumentsAreShownAllTheSame) {
    for (const auto& document :
         {json(), json::array({1}), json{{"functions", 5}}, json{{"functions", {{{"rules", 7}}}}}}) {
        EXPECT_FALSE(renderFunctions(document).empty());
        EXPECT_FALSE(renderFunction(document).empty());
    }
}

} // namespace
} // namespace tna::ctl

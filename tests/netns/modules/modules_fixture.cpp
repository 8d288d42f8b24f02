// SPDX-License-Identifier: Apache-2.0
#include "modules_fixture.hpp"

#include "base/file.hpp"

#include <bpf/bpf.h>

namespace tna::test {

namespace {
std::string read(const std::string& path) {
    const auto content = readFile(path);
    EXPECT_TRUE(content) << content.error().sentence();
    return content.value_or("");
}
} // namespace

std::string moduleObject(const std::string& name) {
    return read(TNA_MODULES + name + ".bpf.o");
}

std::string exampleObject(const std::string& name) {
    return read(TNA_EXAMPLES + name + ".bpf.o");
}

Frame toUdpPort(Frame frame, unsigned port) {
    frame.bytes[36] = static_cast<std::uint8_t>(port >> 8U);
    frame.bytes[37] = static_cast<std::uint8_t>(port);
    return frame;
}

void ModuleControl::insert(const std::string& name, const std::string& object,
                           const api::Placement& placement) {
    const auto placed = controller_->modules().place(name, object, placement, false);
    ASSERT_TRUE(placed) << placed.error().sentence();
}

void ModuleControl::replace(const std::string& name, const std::string& object,
                            const api::Placement& placement) {
    const auto placed = controller_->modules().place(name, object, placement, true);
    ASSERT_TRUE(placed) << placed.error().sentence();
}

void ModuleControl::remove(const std::string& name) {
    const auto removed = controller_->modules().remove(name);
    ASSERT_TRUE(removed) << removed.error().sentence();
    ASSERT_TRUE(*removed);
}

Said ModuleControl::said(const std::string& name, const std::string& hook) const {
    const auto document = controller_->modules().find(name, std::nullopt);
    Said said;
    if (!document)
        return said;
    for (const auto& row : (*document)["counters"])
        if (row["hook"] == hook)
            for (const auto& [key, value] : row.items())
                if (key != "hook" && value != 0)
                    said[key] = value;
    return said;
}

UniqueFd ModuleControl::map(const std::string& name, const std::string& map) const {
    const auto document = controller_->modules().find(name, std::nullopt);
    if (document)
        for (const auto& item : (*document)["maps"])
            if (item["name"] == map)
                return UniqueFd{bpf_map_get_fd_by_id(item["id"])};
    ADD_FAILURE() << "no map " << map;
    return {};
}

} // namespace tna::test

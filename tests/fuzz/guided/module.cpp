// SPDX-License-Identifier: Apache-2.0
// Objects of custom modules, as hostile as can be: what the check lets pass has all its parts within it.
#include "base/file.hpp"
#include "deploy/custom/module_elf.hpp"
#include "fuzz/guided/target.hpp"

#include <array>
#include <cstring>
#include <elf.h>

namespace tna::fuzz {

std::vector<std::string> seeds() {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = EM_BPF;
    header.e_type = ET_REL;
    header.e_shoff = sizeof(header);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 2;
    std::array<Elf64_Shdr, 2> sections{};
    sections[1].sh_type = SHT_PROGBITS;
    sections[1].sh_size = sizeof(header);
    return {std::string(reinterpret_cast<const char*>(&header), sizeof(header)) +
                std::string(reinterpret_cast<const char*>(sections.data()), sizeof(sections)),
            readFile(TNA_MODULE).value_or("")};
}

void prepare() {}

void run(const std::uint8_t* data, std::size_t size) {
    // In memory that ends where it ends, for the address sanitizer.
    const std::string object(reinterpret_cast<const char*>(data), size);
    if (!deploy::checkElf(object))
        return;
    Elf64_Ehdr header{};
    require(object.size() >= sizeof(header), "a header is missing");
    std::memcpy(&header, object.data(), sizeof(header));
    require(header.e_shnum > 0, "there are no sections");
    for (unsigned i = 0; i < header.e_shnum; i++) {
        Elf64_Shdr section{};
        const auto at = header.e_shoff + std::uint64_t{i} * sizeof(section);
        require(at <= object.size() && object.size() - at >= sizeof(section), "a section is missing");
        std::memcpy(&section, object.data() + at, sizeof(section));
        if (section.sh_type == SHT_NOBITS)
            continue;
        require(section.sh_offset <= object.size() && section.sh_size <= object.size() - section.sh_offset,
                "a section lies outside");
    }
}

} // namespace tna::fuzz

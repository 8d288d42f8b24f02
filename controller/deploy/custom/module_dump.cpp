// SPDX-License-Identifier: Apache-2.0
// What a custom module's maps hold, in words that the module's own types give.
#include "deploy/custom/module_object.hpp"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <cstdarg>
#include <cstdio>

namespace tna::deploy {

namespace {
__attribute__((format(printf, 2, 0))) void append(void* text, const char* format, va_list args) {
    char part[512];
    const int length = std::vsnprintf(part, sizeof(part), format, args);
    if (length > 0)
        static_cast<std::string*>(text)->append(part, std::min<std::size_t>(length, sizeof(part) - 1));
}

/// Writes values of the object's types as C would; in hex where there is no type.
class Writer {
public:
    explicit Writer(const btf* types)
        : dump_(types == nullptr ? nullptr : btf_dump__new(types, append, &text_, nullptr), btf_dump__free) {
        if (libbpf_get_error(dump_.get()) != 0)
            (void)dump_.release();
    }

    std::string write(__u32 type, const std::uint8_t* data, std::size_t size) {
        text_.clear();
        LIBBPF_OPTS(btf_dump_type_data_opts, options, .compact = true, .skip_names = true,
                    .emit_zeroes = true);
        if (dump_ && type != 0 && btf_dump__dump_type_data(dump_.get(), type, data, size, &options) >= 0)
            return text_;
        std::string hex;
        for (std::size_t i = 0; i < size; i++)
            hex += fmt::format("{:02x}", data[i]);
        return hex;
    }

private:
    std::string text_;
    std::unique_ptr<btf_dump, void (*)(btf_dump*)> dump_;
};

bool perCpu(bpf_map_type type) {
    return type == BPF_MAP_TYPE_PERCPU_ARRAY || type == BPF_MAP_TYPE_PERCPU_HASH ||
           type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}
} // namespace

std::optional<std::vector<ModuleObject::MapEntry>> ModuleObject::dump(const std::string& map,
                                                                      std::size_t most) const {
    const int fd = mapFd(map);
    if (fd < 0)
        return std::nullopt;
    const auto* found = bpf_object__find_map_by_name(owner_.get(), map.c_str());
    const std::size_t keySize = bpf_map__key_size(found), valueSize = bpf_map__value_size(found);
    const std::size_t parts =
        perCpu(bpf_map__type(found)) ? static_cast<std::size_t>(libbpf_num_possible_cpus()) : 1;
    const std::size_t stride = parts == 1 ? valueSize : (valueSize + 7) / 8 * 8;
    Writer writer{bpf_object__btf(owner_.get())};
    std::vector<std::uint8_t> key(keySize), next(keySize), value(stride * parts);
    std::vector<MapEntry> entries;
    for (bool first = true; entries.size() < most; first = false, key = next) {
        if (bpf_map_get_next_key(fd, first ? nullptr : key.data(), next.data()) != 0)
            break;
        if (bpf_map_lookup_elem(fd, next.data(), value.data()) != 0)
            continue;
        MapEntry entry{writer.write(bpf_map__btf_key_type_id(found), next.data(), keySize), {}};
        for (std::size_t i = 0; i < parts; i++)
            entry.values.push_back(
                writer.write(bpf_map__btf_value_type_id(found), value.data() + i * stride, valueSize));
        entries.push_back(std::move(entry));
    }
    return entries;
}

} // namespace tna::deploy

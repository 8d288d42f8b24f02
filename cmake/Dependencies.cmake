# SPDX-License-Identifier: Apache-2.0
# Every library comes from the distribution; tools/install-deps names the packages.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(LIBBPF REQUIRED IMPORTED_TARGET libbpf>=1.1)
pkg_check_modules(LIBMNL REQUIRED IMPORTED_TARGET libmnl)
pkg_check_modules(LIBSYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
find_path(TNA_TOML_INCLUDE toml++/toml.h REQUIRED)

pkg_check_modules(HTTPLIB REQUIRED IMPORTED_TARGET cpp-httplib)

// SPDX-License-Identifier: Apache-2.0
// What `cmake --install` puts where, and whether documentation and completions know every option.
#include "base/file.hpp"
#include "support/command.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <regex>
#include <set>

namespace tna::test {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string packaging = TNA_SOURCE_DIR "/packaging/";

bool present(const std::string& program) {
    return command({"sh", "-c", "command -v " + program}).exitCode == 0;
}

class Install : public ::testing::Test {
protected:
    void SetUp() override {
        char pattern[] = "/tmp/tna-install-XXXXXX";
        root_ = ::mkdtemp(pattern);
    }
    void TearDown() override { fs::remove_all(root_); }

    void install(const std::string& prefix, const std::string& destdir) {
        const auto run =
            command({"env", "DESTDIR=" + destdir, "cmake", "--install", TNA_BINARY_DIR, "--prefix", prefix});
        ASSERT_EQ(run.exitCode, 0) << run.output;
    }
    [[nodiscard]] std::set<std::string> files() const {
        std::set<std::string> found;
        for (const auto& entry : fs::recursive_directory_iterator(root_))
            if (!entry.is_directory())
                found.insert(entry.path().string().substr(root_.size()));
        return found;
    }

    std::string root_;
};

TEST_F(Install, PutsFilesWhereDebianExpectsThem) {
    install("/usr", root_);
    EXPECT_THAT(
        files(),
        ::testing::UnorderedElementsAre(
            "/etc/tna/tnad.conf", "/usr/bin/tna-bench", "/usr/bin/tna-diff", "/usr/bin/tnactl",
            "/usr/sbin/tnad", "/usr/lib/systemd/system/tnad.service", "/usr/lib/systemd/system/tnad@.service",
            "/usr/lib/sysusers.d/tna.conf", "/usr/libexec/tna/bench-report/main.py",
            "/usr/libexec/tna/bench-report/results.py", "/usr/libexec/tna/bench-report/findings.py",
            "/usr/libexec/tna/bench-report/plots.py", "/usr/libexec/tna/bench-report/page.html",
            "/usr/libexec/tna/bench-report/studies/__init__.py",
            "/usr/libexec/tna/bench-report/studies/anova.py",
            "/usr/libexec/tna/bench-report/studies/delay_findings.py",
            "/usr/libexec/tna/bench-report/studies/observed.py",
            "/usr/libexec/tna/bench-report/studies/tenant_findings.py",
            "/usr/libexec/tna/bench-report/studies/delays.py",
            "/usr/libexec/tna/bench-report/studies/main.py", "/usr/libexec/tna/bench-report/studies/pages.py",
            "/usr/libexec/tna/bench-report/studies/pictures.py",
            "/usr/libexec/tna/bench-report/studies/tenants.py",
            "/usr/libexec/tna/bench-report/studies/words.py", "/usr/libexec/tna/bench-dpdk/drop.c",
            "/usr/libexec/tna/bench-report/studies/functions.py",
            "/usr/libexec/tna/bench-report/studies/function_runs.py",
            "/usr/libexec/tna/bench-report/studies/function_findings.py",
            "/usr/libexec/tna/bench-report/studies/function_pictures.py",
            "/usr/libexec/tna/bench-libxdp/macswap.c", "/usr/bin/tna-balancer",
            "/usr/share/man/man1/tna-balancer.1", "/usr/share/bash-completion/completions/tna-balancer",
            "/usr/share/fish/vendor_completions.d/tna-balancer.fish", "/usr/bin/tna-nat64",
            "/usr/share/man/man1/tna-nat64.1", "/usr/share/bash-completion/completions/tna-nat64",
            "/usr/share/fish/vendor_completions.d/tna-nat64.fish", "/usr/bin/tna-workload",
            "/usr/bin/tna-recorder", "/usr/share/man/man1/tna-recorder.1",
            "/usr/share/bash-completion/completions/tna-recorder",
            "/usr/share/fish/vendor_completions.d/tna-recorder.fish", "/usr/include/tna/function.h",
            "/usr/include/tna/function.hpp", TNA_LIBRARIES "libtna-function.so",
            TNA_LIBRARIES "libtna-function.so.0", TNA_LIBRARIES "libtna-function.so.0.1.0",
            TNA_LIBRARIES "pkgconfig/tna-function.pc", "/usr/share/man/man1/tna-workload.1",
            "/usr/share/man/man3/tna_function.3", "/usr/share/man/man5/tna-functions.d.5",
            "/usr/share/bash-completion/completions/tna-workload",
            "/usr/share/fish/vendor_completions.d/tna-workload.fish", "/usr/share/man/man1/tna-bench.1",
            "/usr/share/man/man1/tna-diff.1", "/usr/share/man/man5/tnad.conf.5",
            "/usr/share/man/man8/tnactl.8", "/usr/share/man/man8/tnad.8",
            "/usr/share/bash-completion/completions/tna-bench",
            "/usr/share/bash-completion/completions/tna-diff",
            "/usr/share/bash-completion/completions/tnactl", "/usr/share/bash-completion/completions/tnad",
            "/usr/share/fish/vendor_completions.d/tna-bench.fish",
            "/usr/share/fish/vendor_completions.d/tna-diff.fish",
            "/usr/share/fish/vendor_completions.d/tnactl.fish",
            "/usr/share/fish/vendor_completions.d/tnad.fish", "/usr/share/zsh/vendor-completions/_tna",
            "/usr/share/man/man7/tna-fpm.7", "/usr/include/tna/module.h", "/usr/include/tna/decision.h",
            "/usr/include/tna/reasons.h", "/usr/include/tna/client.hpp",
            "/usr/share/doc/tna/examples/monitor.bpf.c", "/usr/share/doc/tna/examples/rate-limit.bpf.c",
            "/usr/share/doc/tna/examples/deny.bpf.c", "/usr/share/doc/tna/examples/deny.h",
            "/usr/share/doc/tna/examples/guard.c", "/usr/share/doc/tna/examples/load-balancer.bpf.c",
            "/usr/share/doc/tna/examples/events.cpp", "/usr/share/doc/tna/examples/sampler.bpf.c",
            "/usr/share/doc/tna/examples/steer.bpf.c", "/usr/share/doc/tna/examples/echo.py",
            "/usr/share/doc/tna/examples/macswap.rs", "/usr/lib/python3/dist-packages/tna_function.py"));
    EXPECT_THAT(*readFile(root_ + "/usr/lib/systemd/system/tnad.service"),
                HasSubstr("\nExecStart=/usr/sbin/tnad\n"));
    EXPECT_THAT(*readFile(root_ + "/usr/lib/systemd/system/tnad@.service"),
                HasSubstr("\nExecStart=/usr/sbin/tnad --socket %t/tna@%i/tnad.sock\n"));
}

TEST_F(Install, LocalPrefixIsKnownToTheUnitAndToZsh) {
    install("/usr/local", root_);
    EXPECT_THAT(files(), ::testing::IsSupersetOf({"/etc/tna/tnad.conf", "/usr/local/sbin/tnad",
                                                  "/usr/local/share/zsh/site-functions/_tna"}));
    EXPECT_THAT(*readFile(root_ + "/usr/local/lib/systemd/system/tnad.service"),
                HasSubstr("\nExecStart=/usr/local/sbin/tnad\n"));
}

TEST_F(Install, ConfigurationOfTheOperatorStays) {
    fs::create_directories(root_ + "/etc/tna");
    ASSERT_TRUE(writeFile(root_ + "/etc/tna/tnad.conf", "[limits]\nmax_ports = 7\n"));
    install("/usr", root_);
    EXPECT_EQ(*readFile(root_ + "/etc/tna/tnad.conf"), "[limits]\nmax_ports = 7\n");
}

TEST_F(Install, UnitFileIsInOrder) {
    if (!present("systemd-analyze"))
        GTEST_SKIP() << "needs systemd-analyze";
    const bool configured = fs::exists("/etc/tna");
    install(root_ + "/usr", ""); // not under a DESTDIR, so that the unit names a program that is there
    if (!configured)             // which does not depend on the prefix
        fs::remove_all("/etc/tna");
    const auto unit = root_ + "/usr/lib/systemd/system/tnad.service";
    const auto run = command({"systemd-analyze", "verify", "--man=no", unit});
    EXPECT_THAT(run.output, ::testing::Not(HasSubstr("tnad.service:"))) << run.output;
    const auto security =
        command({"systemd-analyze", "security", "--offline=true", "--threshold=31", "--no-pager", unit});
    EXPECT_EQ(security.exitCode, 0) << security.output;
}

TEST(Configuration, PackagedFileIsTheDefault) {
    const auto run = command({TNAD, "--check-config", "--config", packaging + "tnad.conf"});
    EXPECT_EQ(run.exitCode, 0) << run.output;
}

/// Of a list of capabilities in a text, without their CAP_.
std::set<std::string> capabilitiesIn(const std::string& text, const std::string& pattern) {
    std::smatch list;
    std::set<std::string> found;
    if (!std::regex_search(text, list, std::regex(pattern)))
        return found;
    const std::string names = list[1];
    const std::regex word("[A-Z_]+");
    for (std::sregex_iterator it(names.begin(), names.end(), word), end; it != end; ++it)
        found.insert(it->str().starts_with("CAP_") ? it->str().substr(4) : it->str());
    return found;
}

TEST(Packages, HaveAllDocuments) {
    std::string packaged;
    for (const auto& entry : fs::directory_iterator(packaging + "debian"))
        if (entry.path().extension() == ".docs")
            packaged += readFile(entry.path()).value_or("");
    unsigned documents = 0;
    for (const auto& entry : fs::directory_iterator(TNA_SOURCE_DIR "/docs")) {
        EXPECT_THAT(packaged, HasSubstr("docs/" + entry.path().filename().string() + "\n"));
        documents++;
    }
    EXPECT_GT(documents, 10U);
}

TEST(Kubernetes, ContainersHaveTheCapabilitiesOfTheUnitAndTheManualNamesThem) {
    const auto unit =
        capabilitiesIn(readFile(packaging + "tnad.service.in").value_or(""), "CapabilityBoundingSet=(.*)");
    EXPECT_THAT(unit, ::testing::Contains("NET_RAW"));
    EXPECT_EQ(capabilitiesIn(readFile(packaging + "kubernetes/tna.yaml").value_or(""), R"(add: \[(.*)\])"),
              unit);
    const auto manual = readFile(packaging + "man/tnad.8").value_or("");
    for (const auto& capability : unit)
        EXPECT_THAT(manual, HasSubstr("CAP_" + capability));
}

TEST(Dashboard, AsksForMetricsThatThereAre) {
    const auto dashboard = *readFile(packaging + "grafana/tna.json");
    const auto served = *readFile(TNA_SOURCE_DIR "/controller/api/metrics.cpp");
    const auto documented = *readFile(TNA_SOURCE_DIR "/docs/api.md");
    const std::regex name{"\\btna_[a-z_]+"};
    std::set<std::string> asked;
    for (std::sregex_iterator it{dashboard.begin(), dashboard.end(), name}, end; it != end; ++it)
        asked.insert(it->str());
    EXPECT_GE(asked.size(), 6U);
    for (const auto& metric : asked) {
        EXPECT_THAT(served, HasSubstr("\"" + metric + "\""));
        EXPECT_THAT(documented, HasSubstr("`" + metric + "`"));
    }
}

TEST(ControlSocket, IsDescribedAlikeForPeopleAndForPrograms) {
    const auto described = *readFile(TNA_SOURCE_DIR "/docs/openapi.yaml");
    const auto documented = *readFile(TNA_SOURCE_DIR "/docs/api.md");
    const auto withoutNames = [](const std::string& path) {
        return std::regex_replace(path, std::regex{"\\{[a-z]+\\}|[A-Z]+"}, "*");
    };
    const auto pathsOf = [&](const std::string& text, const std::regex& path) {
        std::set<std::string> paths;
        for (std::sregex_iterator it{text.begin(), text.end(), path}, end; it != end; ++it)
            paths.insert(withoutNames((*it)[1]));
        return paths;
    };
    EXPECT_EQ(pathsOf(described, std::regex{"\n  (/[a-z0-9/{}]+):\n"}),
              pathsOf(documented, std::regex{"`[A-Z]+ (/[A-Za-z0-9/]+)[?`]"}));
}

struct Program {
    const char* name;
    const char* path;
    const char* page;
};
void PrintTo(const Program& program, std::ostream* out) {
    *out << program.name;
}
const Program programs[] = {{"tnad", TNAD, "man/tnad.8"},
                            {"tnactl", TNACTL, "man/tnactl.8"},
                            {"tna-balancer", TNA_BALANCER, "man/tna-balancer.1"},
                            {"tna-bench", TNA_BENCH, "man/tna-bench.1"},
                            {"tna-diff", TNA_DIFF, "man/tna-diff.1"},
                            {"tna-nat64", TNA_NAT64, "man/tna-nat64.1"},
                            {"tna-recorder", TNA_RECORDER, "man/tna-recorder.1"},
                            {"tna-workload", TNA_WORKLOAD, "man/tna-workload.1"}};

class Documented : public ::testing::TestWithParam<Program> {
protected:
    using Words = std::set<std::string>;
    /// Long options and subcommands, as --help shows them, by subcommand; those of none by "".
    [[nodiscard]] static std::map<std::string, Words> wordsByCommand(const Program& program) {
        const auto help = command({program.path, "--help"}).output;
        std::map<std::string, Words> found{{"", options(help)}};
        static const std::regex subcommand("\n  ([a-z0-9]+) ");
        const auto at = help.find("Subcommands:");
        const auto list = at == std::string::npos ? "" : help.substr(at, help.find("\n\n", at) - at);
        for (std::sregex_iterator it(list.begin(), list.end(), subcommand), end; it != end; ++it) {
            found[""].insert((*it)[1]);
            found[(*it)[1]] = options(command({program.path, (*it)[1], "--help"}).output);
        }
        return found;
    }
    static Words options(const std::string& help) {
        Words found;
        static const std::regex option("\n  (?:-[a-z],)?(--[a-z-]+)");
        for (std::sregex_iterator it(help.begin(), help.end(), option), end; it != end; ++it)
            found.insert((*it)[1]);
        return found;
    }
};

TEST_P(Documented, ManPageAndCompletionsKnowEveryOptionAndCommand) {
    Words known;
    for (const auto& [command, words] : wordsByCommand(GetParam()))
        known.insert(words.begin(), words.end());
    ASSERT_GT(known.size(), 4U);
    const auto page = std::regex_replace(*readFile(packaging + GetParam().page), std::regex("\\\\-"), "-");
    const auto bash = *readFile(packaging + "completions/bash/tnactl");
    const auto zsh = *readFile(packaging + "completions/zsh/_tna");
    const auto fish = *readFile(packaging + "completions/fish/" + GetParam().name + ".fish");
    for (const auto& word : known) {
        // In mdoc, "Fl \-json" stands for --json.
        const auto inPage = word.starts_with("--") ? "Fl " + word.substr(1) : "Cm " + word;
        EXPECT_THAT(page, ::testing::AnyOf(HasSubstr(inPage), HasSubstr(", " + word.substr(1)))) << word;
        EXPECT_THAT(bash, HasSubstr(word));
        EXPECT_THAT(zsh, HasSubstr(word));
        EXPECT_THAT(fish,
                    HasSubstr(word.starts_with("--") ? " -l " + word.substr(2) + " " : " -a " + word + " "));
    }
}

/// Asked for completions, as somebody who types is.
TEST_P(Documented, FishOffersEveryOptionAndCommandWhereItIsUnderstood) {
    if (!present("fish"))
        GTEST_SKIP() << "needs fish";
    const std::string file = packaging + "completions/fish/" + GetParam().name + ".fish";
    for (const auto& [subcommand, words] : wordsByCommand(GetParam())) {
        const std::string typed = GetParam().name + (subcommand.empty() ? "" : " " + subcommand) + " ";
        const auto offered =
            command({"fish", "--no-config", "-c",
                     "source " + file + "; complete -C '" + typed + "'; complete -C '" + typed + "--'"})
                .output;
        for (const auto& word : words)
            EXPECT_THAT("\n" + offered, HasSubstr("\n" + word + "\t")) << "after '" << typed << "'";
    }
}

TEST_P(Documented, ManPageHasNoErrors) {
    if (!present("mandoc"))
        GTEST_SKIP() << "needs mandoc";
    const auto run = command({"mandoc", "-T", "lint", "-W", "warning", packaging + GetParam().page});
    EXPECT_EQ(run.exitCode, 0) << run.output;
}

INSTANTIATE_TEST_SUITE_P(Programs, Documented, ::testing::ValuesIn(programs), [](const auto& parameter) {
    std::string name = parameter.param.name;
    std::erase(name, '-');
    return name;
});

TEST(Documentation, PageOfTheConfigurationHasEverySettingAndNoErrors) {
    const auto page = *readFile(packaging + "man/tnad.conf.5");
    const auto example = *readFile(packaging + "tnad.conf");
    static const std::regex setting("\n([a-z_]+) = ");
    std::size_t count = 0;
    for (std::sregex_iterator it(example.begin(), example.end(), setting), end; it != end; ++it, ++count)
        EXPECT_THAT(page, HasSubstr(".It Va " + (*it)[1].str()));
    EXPECT_GE(count, 9U);
    if (present("mandoc")) {
        const auto run = command({"mandoc", "-T", "lint", "-W", "warning", packaging + "man/tnad.conf.5"});
        EXPECT_EQ(run.exitCode, 0) << run.output;
    }
}

TEST(Documentation, PagesOfNetworkFunctionsHaveEverySettingAndCallAndNoErrors) {
    const auto page = *readFile(packaging + "man/tna-functions.d.5");
    const auto reader = *readFile(TNA_SOURCE_DIR "/controller/functions/declaration.cpp");
    static const std::regex setting("\\{\"([a-z_]+)\", (?:reader\\.)?[a-z]+\\(");
    std::size_t count = 0;
    for (std::sregex_iterator it(reader.begin(), reader.end(), setting), end; it != end; ++it, ++count)
        EXPECT_THAT(page, ::testing::AnyOf(HasSubstr(".It Va " + (*it)[1].str() + "\n"),
                                           HasSubstr(".It Va " + (*it)[1].str() + " ,"),
                                           HasSubstr(" , " + (*it)[1].str() + "\n"),
                                           HasSubstr("[[" + (*it)[1].str() + "]]")));
    EXPECT_GE(count, 18U);
    const auto calls = *readFile(packaging + "man/tna_function.3");
    const auto header = *readFile(TNA_SOURCE_DIR "/include/tna/function.h");
    static const std::regex call("\n[a-z_0-9 *]*(tna_function_[a-z_]+)\\(");
    for (std::sregex_iterator it(header.begin(), header.end(), call), end; it != end; ++it)
        EXPECT_THAT(calls, HasSubstr(".Fn " + (*it)[1].str() + " "));
    for (const char* name : {"man/tna-functions.d.5", "man/tna_function.3"})
        if (present("mandoc")) {
            const auto run = command({"mandoc", "-T", "lint", "-W", "warning", packaging + name});
            EXPECT_EQ(run.exitCode, 0) << run.output;
        }
}

} // namespace
} // namespace tna::test

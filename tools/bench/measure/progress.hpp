// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tna::bench {

/// Who is told what goes on, and asked whether to go on.
class Watcher {
public:
    virtual ~Watcher() = default;
    virtual void progress(const std::string& what, unsigned done, unsigned of) = 0;
    [[nodiscard]] virtual bool interrupted() const = 0;
};

/// A line on a terminal; nothing elsewhere. SIGINT, SIGTERM and SIGHUP interrupt.
class TerminalWatcher : public Watcher {
public:
    TerminalWatcher();
    ~TerminalWatcher() override;
    void progress(const std::string& what, unsigned done, unsigned of) override;
    [[nodiscard]] bool interrupted() const override;

private:
    bool terminal_;
};

} // namespace tna::bench

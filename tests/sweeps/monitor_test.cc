#include "sweeps/monitor.h"

#include <pty.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <thread>

namespace dark {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::string ReadAll(std::FILE* file) {
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

Snapshot TwoRuns() {
  Snapshot snapshot;
  snapshot.tally = {48, 10, 1, 1, 0};
  snapshot.running = {{"lr=0.0003_attention=darkformer_m=64_s1-1a2b3c4d", 120, 200, 2.3456, 12345.0, 8.0},
                      {"lr=0.001_attention=exact_s2-5e6f7a8b", 0, 200, kNaN, kNaN, kNaN}};
  snapshot.seconds_left = 200;
  return snapshot;
}

TrialStatus Diverged() {
  TrialStatus status;
  status.state = TrialState::kDiverged;
  status.step = 17;
  status.loss = std::numeric_limits<double>::infinity();
  status.reason = "loss is inf";
  return status;
}

/// What a terminal of endless length shows after `text`: applies "up n, to the left, erase below".
std::vector<std::string> Screen(const std::string& text) {
  std::vector<std::string> lines(1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      const std::size_t end = text.find_first_of("AJ", i);
      if (text[end] == 'A') lines.resize(lines.size() - std::stoul(text.substr(i + 2)));
      if (text[end] == 'J') lines.back().clear();
      i = end;
    } else if (text[i] == '\n') {
      lines.emplace_back();
    } else if (text[i] != '\r') {
      lines.back() += text[i];
    }
  }
  return lines;
}

TEST_CASE("plain progress is lines without control characters, at most one in ten seconds between events") {
  std::FILE* file = std::tmpfile();
  {
    const auto monitor = MakeMonitor(MonitorStyle::kPlain, file);
    monitor->Started("a", {48, 10, 0, 0, 0});
    int taken = 0;
    for (int i = 0; i < 100; ++i)
      monitor->Tick([&] {
        ++taken;
        return TwoRuns();
      });
    CHECK(taken == 0);
    monitor->Finished("a", Diverged(), {48, 10, 1, 0, 0}, 12.34);
    monitor->Note("note");
  }
  CHECK(ReadAll(file) ==
        "[10/48] started a\n[11/48] diverged a  step 17  loss inf  12.3 s  (loss is inf)\nnote\n");
  std::fclose(file);
}

TEST_CASE("quiet says notes only") {
  std::FILE* file = std::tmpfile();
  {
    const auto monitor = MakeMonitor(MonitorStyle::kQuiet, file);
    monitor->Started("a", {});
    monitor->Finished("a", Diverged(), {}, 1);
    monitor->Tick(TwoRuns);
    monitor->Note("note");
  }
  CHECK(ReadAll(file) == "note\n");
  std::fclose(file);
}

TEST_CASE("the live table fits every width, is redrawn in place and leaves only the events behind") {
  for (const std::size_t width : {20, 40, 60, 80, 200}) {
    std::FILE* file = std::tmpfile();
    auto monitor = MakeMonitor(MonitorStyle::kLive, file, width);
    monitor->Tick(TwoRuns);
    const std::vector<std::string> drawn = Screen(ReadAll(file));
    REQUIRE(drawn.size() == 5);  // counts, titles, two runs, the cursor's line
    for (const std::string& line : drawn) CHECK(line.size() < width);
    if (width >= 40) {
      CHECK(drawn[2].find("120/200") != std::string::npos);
      CHECK(drawn[2].find("2.3456") != std::string::npos);
    }
    if (width >= 80) {
      CHECK(drawn[0] == "12/48 finished, 1 diverged, 1 failed, 3m 20s left");
      CHECK(drawn[2].find("12.3k") != std::string::npos);
    }
    monitor->Finished("a", Diverged(), {48, 10, 2, 1, 0}, 12.34);
    monitor->Tick(TwoRuns);
    monitor->Note("note");
    monitor->Tick(TwoRuns);
    CHECK(Screen(ReadAll(file)).size() == 7);
    monitor.reset();
    CHECK(
        Screen(ReadAll(file)) ==
        std::vector<std::string>{"[13/48] diverged a  step 17  loss inf  12.3 s  (loss is inf)", "note", ""});
    std::fclose(file);
  }
}

TEST_CASE("a live table is for terminals that can move their cursor") {
  const char* former = std::getenv("TERM");
  const std::string terminal = former == nullptr ? "" : former;
  int master = 0;
  int slave = 0;
  struct winsize size {};
  size.ws_col = 40;
  size.ws_row = 24;
  if (openpty(&master, &slave, nullptr, nullptr, &size) != 0) {
    WARN("no pseudo-terminal on this machine: the live table is not tried");
    return;
  }
  std::FILE* out = fdopen(slave, "w");
  setenv("TERM", "xterm", 1);
  CHECK(StyleFor(out) == MonitorStyle::kLive);
  {
    const auto monitor = MakeMonitor(MonitorStyle::kLive, out);
    monitor->Tick(TwoRuns);
    char buffer[4096];
    const ssize_t got = read(master, buffer, sizeof buffer);
    REQUIRE(got > 0);
    for (const std::string& line : Screen(std::string(buffer, static_cast<std::size_t>(got))))
      CHECK(line.size() < 40);
  }
  setenv("TERM", "dumb", 1);
  CHECK(StyleFor(out) == MonitorStyle::kPlain);
  unsetenv("TERM");
  CHECK(StyleFor(out) == MonitorStyle::kPlain);
  if (former != nullptr) setenv("TERM", terminal.c_str(), 1);
  std::FILE* file = std::tmpfile();
  CHECK(StyleFor(file) == MonitorStyle::kPlain);
  std::fclose(file);
  std::fclose(out);
  close(master);
}

}  // namespace
}  // namespace dark

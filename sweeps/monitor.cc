#include "sweeps/monitor.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "core/clock.h"
#include "sweeps/table.h"

namespace dark {
namespace {

constexpr auto kPlainInterval = std::chrono::seconds(10);
constexpr auto kLiveInterval = std::chrono::milliseconds(250);

std::string Number(double value, const char* format) {
  return std::isnan(value) ? "-" : fmt::format(fmt::runtime(format), value);
}

/// "12/48 finished: 1 diverged, 2 failed; about 3m 20s left"
std::string Headline(const Snapshot& snapshot) {
  const Tally& tally = snapshot.tally;
  std::string text = fmt::format("{}/{} finished", tally.finished(), tally.total);
  if (tally.diverged > 0) text += fmt::format(", {} diverged", tally.diverged);
  if (tally.failed > 0) text += fmt::format(", {} failed", tally.failed);
  if (tally.stopped > 0) text += fmt::format(", {} stopped", tally.stopped);
  if (!std::isnan(snapshot.seconds_left))
    text += fmt::format(", {} left", HumanSeconds(snapshot.seconds_left));
  return text;
}

std::string EndLine(const std::string& name, const TrialStatus& status, const Tally& tally, double seconds) {
  std::string text = fmt::format("[{}/{}] {} {}  step {}", tally.finished(), tally.total, Name(status.state),
                                 name, status.step);
  if (!std::isnan(status.loss)) text += fmt::format("  loss {:.4f}", status.loss);
  text += fmt::format("  {}", HumanSeconds(seconds));
  if (status.state != TrialState::kDone && !status.reason.empty())
    text += fmt::format("  ({})", status.reason);
  return text;
}

class QuietMonitor : public Monitor {
 public:
  explicit QuietMonitor(std::FILE* out) : out_(out) {}
  void Started(const std::string&, const Tally&) override {}
  void Finished(const std::string&, const TrialStatus&, const Tally&, double) override {}
  void Note(const std::string& text) override { Print(text); }
  void Tick(const std::function<Snapshot()>&) override {}

 private:
  void Print(const std::string& text) {
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
  }
  std::FILE* out_;
};

class PlainMonitor : public Monitor {
 public:
  explicit PlainMonitor(std::FILE* out) : out_(out) {}

  void Started(const std::string& name, const Tally& tally) override {
    Print(fmt::format("[{}/{}] started {}", tally.finished(), tally.total, name));
  }
  void Finished(const std::string& name, const TrialStatus& status, const Tally& tally,
                double seconds) override {
    Print(EndLine(name, status, tally, seconds));
  }
  void Note(const std::string& text) override { Print(text); }
  void Tick(const std::function<Snapshot()>& take) override {
    if (Clock::now() - last_ < kPlainInterval) return;
    const Snapshot snapshot = take();
    std::string text = Headline(snapshot);
    for (const Progress& run : snapshot.running)
      text += fmt::format("; {} {}/{} loss {}", run.name, run.step, run.steps, Number(run.loss, "{:.4f}"));
    Print(text);
  }

 private:
  void Print(const std::string& text) {
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
    last_ = Clock::now();  // any line shows that the sweep lives
  }
  std::FILE* out_;
  Clock::time_point last_ = Clock::now();
};

/// Lines of events scroll by above; the table below them is erased and written again.
class LiveMonitor : public Monitor {
 public:
  LiveMonitor(std::FILE* out, std::size_t width) : out_(out), width_(width) {}
  ~LiveMonitor() override { Erase(); }

  void Started(const std::string&, const Tally&) override { last_.reset(); }
  void Finished(const std::string& name, const TrialStatus& status, const Tally& tally,
                double seconds) override {
    Erase();
    fmt::print(out_, "{}\n", EndLine(name, status, tally, seconds));
    last_.reset();
  }
  void Note(const std::string& text) override {
    Erase();
    fmt::print(out_, "{}\n", text);
    std::fflush(out_);
    last_.reset();
  }
  void Tick(const std::function<Snapshot()>& take) override {
    if (last_ && Clock::now() - *last_ < kLiveInterval) return;
    last_ = Clock::now();
    Draw(take());
  }

 private:
  struct Size {
    std::size_t width = 80;
    std::size_t height = 24;
  };

  Size TerminalSize() const {
    Size size;
    struct winsize window {};
    if (ioctl(fileno(out_), TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0)
      size = {window.ws_col, window.ws_row};
    if (width_ > 0) size.width = width_;
    return size;
  }

  void Erase() {
    if (drawn_ > 0) fmt::print(out_, "\x1b[{}A\r\x1b[J", drawn_);
    std::fflush(out_);
    drawn_ = 0;
  }

  void Draw(const Snapshot& snapshot) {
    const Size size = TerminalSize();
    std::vector<std::vector<std::string>> rows;
    for (const Progress& run : snapshot.running)
      rows.push_back({run.name, fmt::format("{}/{}", run.step, run.steps), Number(run.loss, "{:.4f}"),
                      std::isnan(run.tokens_per_second) ? "-" : HumanCount(run.tokens_per_second),
                      HumanSeconds(run.seconds_left)});
    static const std::vector<Column> columns = {
        {"run", false, 0}, {"step", true, 1}, {"loss", true, 2}, {"tok/s", true, 4}, {"left", true, 3}};
    // A terminal wraps a line that fills its last column, which would spoil the count of lines to erase.
    const std::size_t width = std::max<std::size_t>(size.width, 2) - 1;
    std::vector<std::string> lines = {Shorten(Headline(snapshot), width)};
    if (!rows.empty())
      for (std::string& line : FormatTable(columns, rows, width)) lines.push_back(std::move(line));
    lines.resize(std::min(lines.size(), std::max<std::size_t>(size.height, 2) - 1));
    std::string text;
    for (const std::string& line : lines) text += line + '\n';
    Erase();
    fmt::print(out_, "{}", text);
    std::fflush(out_);
    drawn_ = lines.size();
  }

  std::FILE* out_;
  std::size_t width_;
  std::size_t drawn_ = 0;
  std::optional<Clock::time_point> last_;  // of the last redraw; empty when one is due
};

}  // namespace

MonitorStyle StyleFor(std::FILE* out) {
  const char* terminal = std::getenv("TERM");
  const bool moves = terminal != nullptr && *terminal != '\0' && std::string(terminal) != "dumb";
  return moves && isatty(fileno(out)) == 1 ? MonitorStyle::kLive : MonitorStyle::kPlain;
}

std::unique_ptr<Monitor> MakeMonitor(MonitorStyle style, std::FILE* out, std::size_t width) {
  if (style == MonitorStyle::kQuiet) return std::make_unique<QuietMonitor>(out);
  if (style == MonitorStyle::kPlain) return std::make_unique<PlainMonitor>(out);
  return std::make_unique<LiveMonitor>(out, width);
}

}  // namespace dark

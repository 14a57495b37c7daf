// The command as a user meets it: exit codes, help, messages, and the whole way from text to report.
#include <catch2/catch.hpp>
#include <fstream>

#include "tests/app/shell.h"

namespace dark {
namespace {

struct Desk {
  TemporaryFolder folder;
  Desk() {
    std::ofstream text(At("text.txt"));
    for (int i = 0; i < 4000; ++i) text << "verse " << i * 7919 % 1000 << " in the beginning was the word\n";
    std::ofstream(At("run.yaml")) << "data: {text: " << At("text.txt") << ", cache: " << At("cache") << "}\n"
                                  << "model: {layers: 1, width: 16, heads: 2}\n"
                                  << "attention: {variant: darkformer, m: 8}\n"
                                  << "train: {steps: 30, batch: 2, context: 32, eval_sequences: 4}\n";
  }
  std::string At(const std::string& name) const { return folder.path() + "/" + name; }
  ShellResult Run(const std::string& arguments) const {
    return RunShell("cd '" + folder.path() + "' && " DARKFORMER " " + arguments);
  }
};

}  // namespace

TEST_CASE("every command has help with an example") {
  for (const char* command :
       {"train", "sweep", "report", "inspect", "repair", "keys", "data", "generate", "doctor"}) {
    const ShellResult help = RunShell(std::string(DARKFORMER) + " " + command + " --help");
    INFO(command << "\n" << help.output);
    CHECK(help.code == 0);
    CHECK(help.output.find("darkformer " + std::string(command)) != std::string::npos);
    CHECK(help.output.find("xample") != std::string::npos);
  }
}

TEST_CASE("train, inspect, generate and report work on a text, and exit codes tell how a run ended") {
  const Desk desk;
  const ShellResult trained = desk.Run("train run.yaml --out run --threads 1");
  INFO(trained.output);
  CHECK(trained.code == 0);
  CHECK(trained.output.find("step 30/30") != std::string::npos);
  CHECK(desk.Run("inspect run/run.h5").output.find("done") != std::string::npos);
  const ShellResult text = desk.Run("generate run --prompt 'in the ' --tokens 40");
  CHECK(text.code == 0);
  CHECK(text.output.rfind("in the ", 0) == 0);
  CHECK(text.output.size() >= 40);
  CHECK(text.output == desk.Run("generate run --prompt 'in the ' --tokens 40").output);
  const ShellResult report = desk.Run("report run --out report");
  INFO(report.output);
  CHECK(report.code == 0);
  CHECK(std::filesystem::exists(desk.At("report/report.html")));

  CHECK(desk.Run("train run.yaml --out run").code == 2);           // taken
  CHECK(desk.Run("train run.yaml --out run --resume").code == 0);  // done already
  const ShellResult diverged = desk.Run(
      "train run.yaml --out wild --set optim.lr=1000 --set optim.clip=0 --set optim.weight_decay=10");
  INFO(diverged.output);
  CHECK(diverged.code == 3);
  CHECK(diverged.output.find("diverged: step ") != std::string::npos);
}

TEST_CASE("a time limit or a signal stops with 5, and --resume goes on to the end") {
  const Desk desk;
  CHECK(desk.Run("train run.yaml --out a --max-time 0.000001s").code == 5);
  CHECK(desk.Run("train run.yaml --out a --resume").code == 0);
  const std::string started = " train run.yaml --out b --set train.steps=100000 & pid=$!; sleep 1; kill -";
  for (const char* signal : {"INT", "TERM", "HUP", "USR1"}) {
    const ShellResult stopped = RunShell("cd '" + desk.folder.path() + "'; " DARKFORMER + started + signal +
                                         " $pid; wait $pid; echo code $?; rm -r b");
    INFO(signal << "\n" << stopped.output);
    CHECK(stopped.output.find("code 5") != std::string::npos);
    CHECK(stopped.output.find("--resume") != std::string::npos);
  }
}

TEST_CASE("bad usage exits with 2 and says what was expected") {
  const Desk desk;
  const struct {
    const char *arguments, *message;
  } cases[] = {
      {"train run.yaml --out x --set optim.lrr=1", "optim.lr"},
      {"train run.yaml --out x --set attention.variant=darkfomer", "darkformer"},
      {"train run.yaml --out x --set data.text=nowhere.txt", "nowhere.txt"},
      {"train run.yaml --out x --set train.context=1000000", "1000001"},
      {"train run.yaml --out x --set optim.trainable=[attn.X]", "attn.X"},
      {"train nowhere.yaml", "nowhere.yaml"},
      {"train run.yaml --max-time soon", "30m"},
      {"train", "config"},
      {"flurb", "flurb"},
      {"swep run x.yaml", "'sweep'"},
  };
  for (const auto& c : cases) {
    const ShellResult result = desk.Run(c.arguments);
    INFO(c.arguments << "\n" << result.output);
    CHECK(result.code == 2);
    CHECK(result.output.find(c.message) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(desk.At("x/run.h5")));
  }
}

TEST_CASE("an instruction that the processor lacks fails with 4 and says what to do") {
  const Desk desk;
  // A command that waits for input, hit by the signal as soon as it has said what to do with it.
  const ShellResult result = RunShell("cd '" + desk.folder.path() + R"(' && mkfifo input && exec 3<>input
    )" DARKFORMER R"( bench --in-turn --variants exact --tokens 512 <&3 & pid=$!
    for i in $(seq 500); do grep -q '^SigCgt:.*[89a-f]$' /proc/$pid/status && break; sleep 0.01; done
    kill -ILL $pid; wait $pid)");
  INFO(result.output);
  CHECK(result.code == 4);
  CHECK(result.output.find("this CPU lacks an instruction") != std::string::npos);
}

TEST_CASE("a full disk fails with 4, names the file, and earlier rows stay readable") {
  const Desk desk;
  REQUIRE(desk.Run("data prepare --text text.txt --cache cache").code == 0);
  // 64 KiB a file is less than the run file needs.
  const ShellResult full =
      RunShell("cd '" + desk.folder.path() +
               "' && ulimit -f 64 && " DARKFORMER
               " train run.yaml --out run --set train.steps=3000 --set train.checkpoint_interval=1000");
  INFO(full.output);
  CHECK(full.code == 4);
  CHECK(full.output.find("run/") != std::string::npos);
  const ShellResult inspected = desk.Run("inspect run/run.h5");
  INFO(inspected.output);
  CHECK(inspected.code == 0);
}

}  // namespace dark

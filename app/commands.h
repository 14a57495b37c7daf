#pragma once

#include <CLI/CLI.hpp>

namespace dark {

// One file a subcommand. Each adds its options to `app` and a callback that stores the exit code in
// `exit_code`; problems are thrown as Error and printed once by main.
void AddTrain(CLI::App& app, int& exit_code);
void AddSweep(CLI::App& app, int& exit_code);
void AddReport(CLI::App& app, int& exit_code);
void AddInspect(CLI::App& app, int& exit_code);
void AddRepair(CLI::App& app, int& exit_code);
void AddKeys(CLI::App& app, int& exit_code);
void AddData(CLI::App& app, int& exit_code);
void AddGenerate(CLI::App& app, int& exit_code);
void AddDoctor(CLI::App& app, int& exit_code);
void AddBench(CLI::App& app, int& exit_code);

}  // namespace dark

#include "app/commands.h"

namespace dark {

void AddSweep(CLI::App&, int&) {}

}  // namespace dark

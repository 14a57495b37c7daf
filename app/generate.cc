#include "app/commands.h"

namespace dark {

void AddGenerate(CLI::App&, int&) {}

}  // namespace dark

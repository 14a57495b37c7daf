#include "app/commands.h"

namespace dark {

void AddData(CLI::App&, int&) {}

}  // namespace dark

#pragma once

namespace dark {

/// Whether the program was built for a processor with matrix tiles (AMX), and the system lets this process
/// use them; asks once.
bool MayUseTiles();

}  // namespace dark

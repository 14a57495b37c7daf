#include "core/tensor/matrix_tiles.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace dark {

bool MayUseTiles() {
#if defined(__AMX_BF16__)
  // Linux keeps the 8 KiB of tile data from processes that have not asked for them: arch_prctl(2).
  constexpr int kRequestPermission = 0x1023, kTileData = 18;
  static const bool granted = syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
  return granted;
#else
  return false;
#endif
}

}  // namespace dark

#pragma once

#include "core/setting.h"

namespace dark {

/// What this machine can do at most with a number of threads, measured now, by loops of our own that do
/// nothing else. The limits that a training step is held against.
struct MachineLimits {
  double flops_fp32;  ///< fused multiply-adds of float in registers, two operations each, per second
  double flops_fp64;
  double flops_bf16;   ///< by the instructions of products with bf16 operands; without any, as flops_fp32
  double flops_split;  ///< of float products by Operands::kSplit: six of bf16 each; without tiles as fp32
  double bandwidth;    ///< bytes per second of a[i] = b[i] + s·c[i] on arrays far larger than the caches, a
                       ///< written past them: otherwise it would be read too
};

/// Takes about a second. The best of several tries, because other work on the machine only takes away.
MachineLimits MeasureMachine(int threads);

/// What flops_fp32 is at this moment, in a few milliseconds. Machines that others use too, or that get warm,
/// change their speed from second to second.
double FmaRateNow(int threads);

/// Largest resident memory of the process in bytes since the last ResetPeakMemory (or its start, where the
/// system does not let it be reset).
double PeakMemory();
void ResetPeakMemory();

}  // namespace dark

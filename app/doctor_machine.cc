#include <fmt/format.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <cstdlib>
#include <fstream>

#include "app/doctor_checks.h"

namespace dark {
namespace {

using Level = Finding::Level;

struct Instructions {
  const char* name;
  bool built;      ///< this program may use them
  bool supported;  ///< the CPU has them
};

#ifdef __x86_64__
/// Whether a macro of the compiler is 1: one that it has not defined stays a name.
#define DARKFORMER_TEXT(value) #value
#define DARKFORMER_IS_ONE(macro) (DARKFORMER_TEXT(macro)[0] == '1')

/// Compilers do not agree on a name for it.
bool HasAmxBf16() {
  constexpr unsigned kLeaf = 7, kBit = 1U << 22U;
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(kLeaf, 0, &a, &b, &c, &d) != 0 && (d & kBit) != 0;
}

/// The instruction sets that decide speed, weakest first.
std::vector<Instructions> InstructionSets() {
  return {{"AVX2", DARKFORMER_IS_ONE(__AVX2__), __builtin_cpu_supports("avx2") != 0},
          {"FMA", DARKFORMER_IS_ONE(__FMA__), __builtin_cpu_supports("fma") != 0},
          {"AVX-512", DARKFORMER_IS_ONE(__AVX512F__), __builtin_cpu_supports("avx512f") != 0},
          {"AVX-512 BF16", DARKFORMER_IS_ONE(__AVX512BF16__), __builtin_cpu_supports("avx512bf16") != 0},
          {"AMX BF16", DARKFORMER_IS_ONE(__AMX_BF16__), HasAmxBf16()}};
}
#else
std::vector<Instructions> InstructionSets() { return {}; }
#endif

void Append(std::string& list, const std::string& item) { list += (list.empty() ? "" : ", ") + item; }

/// A field of /proc/meminfo in bytes, or -1.
double MemoryField(const std::string& name) {
  std::ifstream file("/proc/meminfo");
  std::string field;
  double kibibytes = 0;
  std::string rest;
  while (file >> field >> kibibytes && std::getline(file, rest))
    if (field == name + ":") return kibibytes * 1024;
  return -1;
}

Finding CheckThreadCount(const std::string& value, const Cores& cores) {
  const long count = std::strtol(value.c_str(), nullptr, 10);
  if (count > cores.Usable())
    return {Level::kWarn, "threads",
            fmt::format("OMP_NUM_THREADS={} is above the number of usable cores, {}", value, cores.Usable()),
            "unset it: threads that share a core wait for one another"};
  return {Level::kOk, "threads", "OMP_NUM_THREADS=" + value, ""};
}

/// Variables whose mere presence matters, and why.
struct Variable {
  const char* name;
  const char* effect;
};
constexpr Variable kVariables[] = {
    {"GOMP_CPU_AFFINITY", "unset it: it pins every run to the same CPUs, so the jobs of a sweep share them"},
    {"OMP_PLACES", "unset it: it can pin every run to the same CPUs, so the jobs of a sweep share them"},
    {"OMP_THREAD_LIMIT", "unset it: it can leave a run fewer threads than --threads asks for"},
    {"OMP_WAIT_POLICY", "unset it: 'active' makes waiting threads take time from the other jobs"},
};

}  // namespace

Finding CheckBuild() {
  const std::string message = fmt::format("darkformer {}, compiler {}", DARKFORMER_VERSION, __VERSION__);
#ifdef __OPTIMIZE__
  return {Level::kOk, "build", message, ""};
#else
  return {Level::kWarn, "build", message + ", not optimised", "build with -DCMAKE_BUILD_TYPE=Release"};
#endif
}

Finding CheckSimd() {
  std::string built;
  std::string lacking;
  std::string idle;
  for (const Instructions& set : InstructionSets()) {
    if (set.built) Append(built, set.name);
    if (set.built && !set.supported) Append(lacking, set.name);
    if (!set.built && set.supported) Append(idle, set.name);
  }
  if (!lacking.empty())
    return {Level::kFail, "simd", "built for " + lacking + ", which this CPU lacks",
            "build on this machine: make clean, then build again"};
  if (!idle.empty())
    return {Level::kWarn, "simd", "this CPU has " + idle + ", which this build does not use",
            "build with -DDARKFORMER_NATIVE=ON"};
  return {Level::kOk, "simd",
          built.empty() ? "the instruction set of the compiler's default" : "built for " + built, ""};
}

Finding CheckCores(const Cores& cores) {
  std::string message = fmt::format("{} usable: CPUs {}, {} physical", cores.Usable(),
                                    FormatCpuList(cores.cpus), cores.physical);
  if (cores.quota_source.empty()) return {Level::kOk, "cores", message, ""};
  message += fmt::format(", {} CPUs of run time by {}", cores.quota, cores.quota_source);
  if (cores.quota >= static_cast<double>(cores.cpus.size())) return {Level::kOk, "cores", message, ""};
  return {Level::kWarn, "cores", message,
          "the control group grants less than the affinity shows; sweeps keep to the smaller number"};
}

Finding CheckMemory() {
  constexpr double kGigabyte = 1e9;
  const double available = MemoryField("MemAvailable");
  if (available < 0) return {Level::kWarn, "memory", "/proc/meminfo cannot be read", "mount /proc"};
  const std::string message = fmt::format("{:.1f} GB available, {:.1f} GB of page cache",
                                          available / kGigabyte, MemoryField("Cached") / kGigabyte);
  if (available < kGigabyte / 2)
    return {Level::kWarn, "memory", message, "run fewer jobs at once (--jobs), or smaller models"};
  return {Level::kOk, "memory", message, ""};
}

std::vector<Finding> CheckThreadEnvironment(const Cores& cores) {
  std::vector<Finding> findings;
  if (const char* count = std::getenv("OMP_NUM_THREADS")) findings.push_back(CheckThreadCount(count, cores));
  for (const Variable& variable : kVariables)
    if (const char* value = std::getenv(variable.name))
      findings.push_back(
          {Level::kWarn, "threads", fmt::format("{}={}", variable.name, value), variable.effect});
  if (findings.empty())
    findings.push_back({Level::kOk, "threads", "no variable changes how threads run", ""});
  return findings;
}

}  // namespace dark

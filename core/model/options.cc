#include "core/model/options.h"

#include <fmt/format.h>

namespace dark {

std::vector<Setting> Bind(ModelOptions& o) {
  return {
      {"layers", &o.layers, "Transformer blocks", 1, 1000},
      {"width", &o.width, "model width C", 1, 65536},
      {"heads", &o.heads, "query heads H", 1, 1024},
      {"kv_heads", &o.kv_heads, "key/value heads G, 0 = heads (1 = multi-query)", 0, 1024},
      {"head_dim", &o.head_dim, "head size d, even, 0 = width / heads", 0, 1024},
      {"ff", &o.ff, "hidden size of the gated feed-forward block, 0 = 8/3 width rounded up to 8", 0, 1048576},
      {"activation", &o.activation, "gate of the feed-forward block", {"geglu", "swiglu"}},
      {"norm",
       &o.norm,
       "RMSNorm gain: one-plus-w (Gemma, w starts at 0) or w (Llama, starts at 1)",
       {"one-plus-w", "w"}},
      {"norm_eps", &o.norm_eps, "added to the mean square in RMSNorm", 0, 1},
      {"rope_base", &o.rope_base, "base of the rotary frequencies (half-split pairs)", 1, 1e12},
      {"embed_scale", &o.embed_scale, "multiply embeddings by √C (Gemma)"},
      {"tied", &o.tied, "output layer shares the embedding matrix"},
      {"qk_norm", &o.qk_norm, "RMSNorm with its own gain on each query and key head"},
      {"logit_cap", &o.logit_cap, "soft cap c·tanh(z/c) on the logits, 0 = none", 0, 1e6},
      {"init_std", &o.init_std,
       "standard deviation of initial weights; layers that write to the residual use it / √(2·layers)", 0,
       10},
  };
}

void Resolve(ModelOptions& o) {
  if (o.kv_heads == 0) o.kv_heads = o.heads;
  if (o.head_dim == 0 && o.width % o.heads == 0) o.head_dim = o.width / o.heads;
  if (o.ff == 0) o.ff = (8 * o.width / 3 + 7) / 8 * 8;
}

std::vector<Problem> Check(const ModelOptions& o) {
  std::vector<Problem> problems;
  if (o.head_dim == 0)
    problems.push_back(
        {"heads", fmt::format("width {} is not a multiple of heads {}; set head_dim", o.width, o.heads)});
  if (o.head_dim % 2 != 0)
    problems.push_back({"head_dim", fmt::format("{} is odd; the rotary embedding needs pairs", o.head_dim)});
  if (o.heads % o.kv_heads != 0)
    problems.push_back(
        {"kv_heads", fmt::format("heads {} is not a multiple of kv_heads {}", o.heads, o.kv_heads)});
  return problems;
}

Operands OperandsOf(const std::string& precision) {
  return precision == "bf16" ? Operands::kBf16 : Operands::kFull;
}

}  // namespace dark

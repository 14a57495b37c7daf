#pragma once

#include <string>
#include <vector>

#include "core/setting.h"
#include "core/tensor/matmul.h"

namespace dark {

/// Shape and family choices of the decoder-only Transformer (Gemma and Llama families).
struct ModelOptions {
  Index layers = 2;
  Index width = 64;
  Index heads = 4;
  Index kv_heads = 0;
  Index head_dim = 0;
  Index ff = 0;
  std::string activation = "geglu";
  std::string norm = "one-plus-w";
  double norm_eps = 1e-6;
  double rope_base = 10000;
  bool embed_scale = true;
  bool tied = true;
  bool qk_norm = false;
  double logit_cap = 0;
  double init_std = 0.02;
};

std::vector<Setting> Bind(ModelOptions& options);
/// Replaces every 0 that means "derived" by the derived value, so that a resolved config is explicit.
void Resolve(ModelOptions& options);
/// Combinations that cannot work (expects resolved options).
std::vector<Problem> Check(const ModelOptions& options);

/// How a model of this precision ("fp32", "bf16", "fp64") reads the operands of its products.
Operands OperandsOf(const std::string& precision);

}  // namespace dark

#pragma once

#include <span>
#include <string>

#include "core/random.h"
#include "core/setting.h"

namespace dark {

enum class Draws { kIid, kOrthogonal };
Draws DrawsFromName(const std::string& name);

/// Base draws Ω: m rows of dimension `dim`, each marginally N(0, I), row-major into `omega` [m × dim].
/// Orthogonal rows come in independent blocks of `dim`: Q of a Gaussian matrix with column c multiplied by
/// the sign of R_cc (without which Householder QR is biased, method.md rule 14), rows rescaled by fresh
/// chi_dim norms. The last block is drawn whole and truncated, so the first rows do not depend on m.
template <class T>
void DrawBase(Draws draws, Index m, Index dim, Stream stream, std::span<T> omega);

/// An orthonormal basis of `rows` ≤ `dim` directions, Haar distributed; row-major [rows × dim].
template <class T>
void DrawOrthonormal(Index rows, Index dim, Stream stream, std::span<T> out);

}  // namespace dark

#include "core/ops.h"
#include "core/tensor/parallel.h"

namespace dark {
namespace {

template <class T>
void EmbeddingForward(const Node<T>& table, const std::int32_t* tokens, T scale, const Node<T>& y) {
  ParallelBlocks(y.rows, 64, [&](Index begin, Index end, Index) {
    for (Index n = begin; n < end; ++n) y.Value().row(n) = scale * table.Value().row(tokens[n]);
  });
}

// Tokens repeat, so the table's columns are split among threads and every column sums in token order.
template <class T>
void EmbeddingBackward(Node<T>& table, const std::int32_t* tokens, T scale, const Node<T>& y) {
  table.StartGradient();
  ParallelBlocks(y.cols, 16, [&](Index begin, Index end, Index) {
    for (Index n = 0; n < y.rows; ++n) {
      table.Grad().row(tokens[n]).segment(begin, end - begin) +=
          scale * y.Grad().row(n).segment(begin, end - begin);
    }
  });
}

}  // namespace

template <class T>
Node<T>* Embedding(Tape<T>& tape, Node<T>* table, const std::int32_t* const* tokens, Index count, T scale) {
  Node<T>* y = tape.Activation("embedding", count, table->cols);
  tape.Record(
      {"embedding", StreamWork(2, y->size(), sizeof(T)), StreamWork(3, y->size(), sizeof(T))}, {},
      [=] { EmbeddingForward(*table, *tokens, scale, *y); },
      [=] {
        if (table->trainable) EmbeddingBackward(*table, *tokens, scale, *y);
      });
  return y;
}
template Node<float>* Embedding(Tape<float>&, Node<float>*, const std::int32_t* const*, Index, float);
template Node<double>* Embedding(Tape<double>&, Node<double>*, const std::int32_t* const*, Index, double);

}  // namespace dark

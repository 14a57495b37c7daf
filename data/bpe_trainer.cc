#include "data/bpe_trainer.h"

#include <optional>
#include <queue>
#include <unordered_map>

#include "data/chunks.h"

namespace dark {
namespace {

// A distinct chunk: its tokens so far and how often the text has it.
struct Word {
  std::vector<std::uint32_t> tokens;
  std::int64_t count = 0;
};

struct Pair {
  std::int64_t count = 0;
  std::vector<std::uint32_t> words;  // that have, or once had, the pair
};

// Orders the heap: most occurrences first, then lowest tokens (PairKey keeps the order of the tokens).
struct Candidate {
  std::int64_t count;
  std::uint64_t key;
  bool operator<(const Candidate& other) const {
    return count != other.count ? count < other.count : key > other.key;
  }
};

template <class Use>
void ForEachPair(const Word& word, Use&& use) {
  for (std::size_t i = 1; i < word.tokens.size(); ++i) use(PairKey({word.tokens[i - 1], word.tokens[i]}));
}

void Replace(std::vector<std::uint32_t>& tokens, const Merge& merge, std::uint32_t joined) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const bool match = i + 1 < tokens.size() && tokens[i] == merge[0] && tokens[i + 1] == merge[1];
    tokens[kept++] = match ? joined : tokens[i];
    if (match) ++i;
  }
  tokens.resize(kept);
}

std::vector<Word> DistinctWords(std::span<const std::string_view> texts) {
  std::vector<Word> words;
  std::unordered_map<std::string_view, std::size_t> index;
  for (const std::string_view text : texts) {
    ForEachChunk(text, [&](std::string_view chunk) {
      const auto [at, is_new] = index.try_emplace(chunk, words.size());
      if (is_new) {
        words.emplace_back();
        for (const char byte : chunk) words.back().tokens.push_back(static_cast<unsigned char>(byte));
      }
      ++words[at->second].count;
    });
  }
  return words;
}

// Counts are kept up to date by looking, at each merge, only at the words that have the merged pair. A merge
// can only lower the counts of pairs without the new token, so no heap entry is ever too small: one that is
// out of date is put back with its true count when it comes up.
class Trainer {
 public:
  explicit Trainer(std::span<const std::string_view> texts) : words_(DistinctWords(texts)) {
    for (std::uint32_t word = 0; word < words_.size(); ++word) {
      AddCounts(words_[word], +1);
      ForEachPair(words_[word], [&](std::uint64_t key) { Register(word, key); });
    }
    for (const auto& [key, pair] : pairs_) heap_.push({pair.count, key});
  }

  /// The pair to join next; none when no pair occurs twice.
  std::optional<std::uint64_t> Best() {
    while (!heap_.empty()) {
      const Candidate top = heap_.top();
      heap_.pop();
      const auto pair = pairs_.find(top.key);
      if (pair == pairs_.end() || pair->second.count < 2) continue;
      if (pair->second.count == top.count) return top.key;
      heap_.push({pair->second.count, top.key});
    }
    return std::nullopt;
  }

  void Join(const Merge& merge, std::uint32_t joined) {
    const std::vector<std::uint32_t> words = std::move(pairs_.at(PairKey(merge)).words);
    pairs_.erase(PairKey(merge));
    std::vector<std::uint64_t> fresh;
    for (const std::uint32_t word : words) {
      AddCounts(words_[word], -1);
      Replace(words_[word].tokens, merge, joined);
      AddCounts(words_[word], +1);
      ForEachPair(words_[word], [&](std::uint64_t key) {
        const Merge pair = MergeOf(key);
        if (pair[0] != joined && pair[1] != joined) return;
        if (Register(word, key)) fresh.push_back(key);
      });
    }
    for (const std::uint64_t key : fresh) heap_.push({pairs_.at(key).count, key});
  }

 private:
  void AddCounts(const Word& word, std::int64_t sign) {
    ForEachPair(word, [&](std::uint64_t key) { pairs_[key].count += sign * word.count; });
  }

  // Notes that the word has the pair; returns whether it is the first that has.
  bool Register(std::uint32_t word, std::uint64_t key) {
    std::vector<std::uint32_t>& words = pairs_[key].words;
    const bool first = words.empty();
    if (first || words.back() != word) words.push_back(word);
    return first;
  }

  std::vector<Word> words_;
  std::unordered_map<std::uint64_t, Pair> pairs_;
  std::priority_queue<Candidate> heap_;
};

}  // namespace

std::vector<Merge> TrainBpe(std::span<const std::string_view> texts, Index vocab) {
  Trainer trainer(texts);
  std::vector<Merge> merges;
  for (Index token = 256; token < vocab; ++token) {
    const std::optional<std::uint64_t> best = trainer.Best();
    if (!best) break;
    merges.push_back(MergeOf(*best));
    trainer.Join(merges.back(), static_cast<std::uint32_t>(token));
  }
  return merges;
}

}  // namespace dark

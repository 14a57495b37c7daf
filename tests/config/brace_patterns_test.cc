#include "experiments/config/brace_patterns.h"

#include <catch2/catch.hpp>

#include "core/error.h"
#include "experiments/config/run_config.h"

namespace dark {

TEST_CASE("name patterns with braces need no quotes inside brackets") {
  const char* expected = "[attn.{q,k,v}, attn.M]";
  for (const std::string list : {"[attn.{q,k,v}, attn.M]", "['attn.{q,k,v}', attn.M]",
                                 "[ \"attn.{q,k,v}\",attn.M ]", "\n    - attn.{q,k,v}\n    - attn.M"}) {
    INFO(list);
    const RunConfig config = ParseRunConfig("optim:\n  trainable: " + list + "\n", "test");
    CHECK(config.optim.trainable == std::vector<std::string>{"attn.{q,k,v}", "attn.M"});
  }
  const RunConfig overridden =
      ParseRunConfig("seed: 1\n", "test", {std::string("optim.trainable=") + expected});
  CHECK(overridden.optim.trainable.size() == 2);
  const RunConfig factors = ParseRunConfig("optim: {lr_factor: {attn.{q,k}: 0.5, M: 2}}\n", "test");
  CHECK(factors.optim.lr_factor.at("attn.{q,k}") == 0.5);
}

TEST_CASE("quotes, comments, maps and unfinished braces stay as they are") {
  for (const std::string yaml : {"a: {b: 1}\n", "a: [{variant: exact}, {m: 1}] # attn.{q,k}\n",
                                 "a: 'attn.{q,k}'\n", "a: \"x\\\" attn.{q,k}\"\n", "a: attn.{q,k\n",
                                 "a: attn.{}\n", "{a: {b: {c: 1}}}\n", "don't: x.y\n", ""})
    CHECK(BracePatterns(yaml).quoted() == yaml);
}

TEST_CASE("columns in messages are those of the text as written") {
  CHECK_THROWS_WITH(ParseRunConfig("optim: {trainable: [attn.{q,k,v}, attn.M], lrr: 1}\n", "test"),
                    Catch::Contains("test:1:44"));
  CHECK(BracePatterns("[a.{b}, c]").OriginalColumn(0, 0) == 0);
  CHECK(BracePatterns("[a.{b}, c]").OriginalColumn(0, 10) == 8);
}

}  // namespace dark

#include <catch2/catch.hpp>

#include "experiments/config/config_yaml.h"
#include "experiments/config/key_table.h"
#include "tests/config/messages.h"

namespace dark {
namespace {

RunConfig Parse(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return ParseRunConfig(yaml, "f", overrides);
}

std::string Complaint(const std::string& yaml, const std::vector<std::string>& overrides = {}) {
  return MessageOf([&] { Parse(yaml, overrides); });
}

TEST_CASE("sections and dotted keys mean the same") {
  const RunConfig nested =
      Parse("seed: 7\nmodel: {layers: 3, tied: false}\noptim:\n  lr_factor: {attn.M: 10}\n");
  const RunConfig dotted =
      Parse("optim.lr_factor: {attn.M: 1e1}\nmodel.tied: false\nmodel.layers: 3.0\nseed: '7'\n");
  CHECK(nested.seed == 7);
  CHECK(nested.model.layers == 3);
  CHECK_FALSE(nested.model.tied);
  CHECK(nested.optim.lr_factor == std::map<std::string, double>{{"attn.M", 10}});
  CHECK(CanonicalYaml(nested) == CanonicalYaml(dotted));
  CHECK(CanonicalYaml(Parse("")) == CanonicalYaml(Parse("model:\noptim: {}\n")));
}

TEST_CASE("the variant decides which attention keys exist, wherever it stands in a map") {
  const RunConfig config = Parse("attention: {m: 16, redraw: 5, variant: performer}");
  CHECK(config.attention.variant == "performer");
  CHECK(config.attention.m == 16);
  CHECK(config.attention.redraw == 5);
  CHECK(Parse("attention.m: 16\nattention.variant: lfk").attention.m == 16);
  CHECK(Complaint("attention: {m: 3}") ==
        "f:1:13: variant exact has no key attention.m; variants that have it: performer, darkformer, lfk");
  CHECK(Complaint("attention: {variant: lfk, redraw: 3}") ==
        "f:1:27: variant lfk has no key attention.redraw; variants that have it: performer, darkformer");
}

TEST_CASE(
    "a whole attention section starts from the variant's defaults, the variant alone keeps shared keys") {
  ConfigBuilder builder;
  builder.Apply(ParseYaml("attention: {variant: darkformer, m: 16, init: whitening, redraw: 9}", "base"));
  ConfigBuilder whole = builder;
  whole.Set("attention", ParseYaml("{variant: performer, redraw: 2}", "grid"), "grid:1:1");
  CHECK(whole.Resolve().attention.m == AttentionOptions().m);
  CHECK(whole.Resolve().attention.redraw == 2);
  ConfigBuilder part = builder;
  part.Set("attention", ParseYaml("{m: 32}", "grid"), "grid:1:1");
  CHECK(part.Resolve().attention.m == 32);
  CHECK(part.Resolve().attention.init == "whitening");
  ConfigBuilder variant = builder;
  variant.Override("attention.variant=performer");
  CHECK(variant.Resolve().attention.m == 16);
  CHECK(variant.Resolve().attention.redraw == 9);
  variant.Override("attention.variant=exact");
  variant.Override("attention.variant=darkformer");
  CHECK(variant.Resolve().attention.m == AttentionOptions().m);
  CHECK(variant.Resolve().attention.init == "identity");
  CHECK(builder.Resolve().attention.m == 16);  // copies are independent
}

TEST_CASE("overrides win in order; scalars are taken as the shell gives them") {
  const RunConfig config = Parse("optim: {lr: 1}", {"optim.lr=2", "optim.lr=3e-4", "data.text=a: #b [c",
                                                    "model.tied=false", "optim.trainable=[\"attn.{q,k}\", M]",
                                                    "attention={variant: performer, m: 8}", "data.cache="});
  CHECK(config.optim.lr == 3e-4);
  CHECK(config.data.text == "a: #b [c");
  CHECK_FALSE(config.model.tied);
  CHECK(config.optim.trainable == std::vector<std::string>{"attn.{q,k}", "M"});
  CHECK(config.attention.m == 8);
}

TEST_CASE("messages about keys") {
  const std::string hint = " ('darkformer keys' lists all)";
  CHECK(Complaint("optim:\n  lrr: 1") == "f:2:3: unknown key 'optim.lrr'; did you mean 'optim.lr'?" + hint);
  CHECK(Complaint("lr: 1") == "f:1:1: unknown key 'lr'; did you mean 'optim.lr'?" + hint);
  CHECK(Complaint("train: {lr: 1}") == "f:1:9: unknown key 'train.lr'; did you mean 'optim.lr'?" + hint);
  CHECK(Complaint("modle: {width: 8}") == "f:1:1: unknown key 'modle'; did you mean 'model'?" + hint);
  CHECK(Complaint("quux: 1") == "f:1:1: unknown key 'quux'" + hint);
  CHECK(Complaint("optim: {lr: 1}\noptim.lr: 1") == "f:2:1: optim.lr is set twice; first at f:1:9");
  CHECK(Complaint("model: 3") == "f:1:8: model is a section: expected a map of its keys, found '3'");
  CHECK(Complaint("[1]") == "f:1:1: expected a map of config keys, found a list");
  CHECK(Complaint("", {"optim.lrr=1"}) ==
        "--set optim.lrr: unknown key 'optim.lrr'; did you mean 'optim.lr'?" + hint);
  CHECK(Complaint("", {"seed"}) == "--set seed: expected key=value");
  CHECK(Complaint("", {"optim.trainable=[a"}) ==
        "--set optim.trainable:1:1: a key must be a text, found a list; is a bracket left open?");
}

TEST_CASE("messages about values") {
  CHECK(Complaint("optim:\n  lr: 1e-4x") ==
        "f:2:7: optim.lr: expected a number from 0 to 1000, found '1e-4x'");
  CHECK(Complaint("optim: {lr: -1e-3}") ==
        "f:1:13: optim.lr: expected a number from 0 to 1000, found '-1e-3'");
  CHECK(Complaint("optim: {lr: .nan}") == "f:1:13: optim.lr: expected a number from 0 to 1000, found '.nan'");
  CHECK(Complaint("optim: {lr: ' 1'}") == "f:1:13: optim.lr: expected a number from 0 to 1000, found ' 1'");
  CHECK(Complaint("optim: {lr: [1, 2]}") ==
        "f:1:13: optim.lr: expected a number from 0 to 1000, found a list");
  CHECK(Complaint("optim:\n  lr:\n") == "f:2:3: optim.lr: expected a number from 0 to 1000, found nothing");
  CHECK(Complaint("optim: {lr: \"1\\n2\"}") ==
        "f:1:13: optim.lr: expected a number from 0 to 1000, found '1 2'");
  CHECK(Complaint("model: {layers: 2.5}") ==
        "f:1:17: model.layers: expected a whole number from 1 to 1000, found '2.5'");
  CHECK(Complaint("model: {tied: yes}") == "f:1:15: model.tied: expected true or false, found 'yes'");
  CHECK(Complaint("train: {precision: fp62}") ==
        "f:1:20: train.precision: expected one of fp32, bf16, fp64, found 'fp62'; did you mean 'fp32'?");
  CHECK(Complaint("attention: {variant: performr}") ==
        "f:1:22: attention.variant: expected one of exact, performer, darkformer, darkformer-exact, lfk, "
        "uniform, "
        "found 'performr'; did you mean 'performer'?");
  CHECK(Complaint("optim: {trainable: M}") ==
        "f:1:20: optim.trainable: expected a list of texts such as [a, b], found 'M'");
  CHECK(Complaint("optim: {lr_factor: {M: 1, q: x}}") ==
        "f:1:30: optim.lr_factor: expected a map from texts to numbers from 0 to 1000000 such as {a: 0.5}, "
        "found 'x'");
  CHECK(Complaint("", {"optim.lr=fast"}) ==
        "--set optim.lr: optim.lr: expected a number from 0 to 1000, found 'fast'");
  CHECK(Complaint("", {"data.text=\xff"}) == "--set data.text: data.text: the text is not UTF-8");
}

TEST_CASE("combinations that cannot work are blamed on a key that was set") {
  CHECK(Complaint("model:\n  heads: 6\n  kv_heads: 4\n  width: 96") ==
        "f:3:13: model.kv_heads: heads 6 is not a multiple of kv_heads 4");
  CHECK(Complaint("model: {width: 65}") ==
        "f:1:16: model.heads: width 65 is not a multiple of heads 4; set head_dim");
  CHECK(Complaint("optim: {warmup: 9}\ntrain: {steps: 5}") ==
        "f:1:17: optim.warmup: 9 warm-up steps in a run of 5 steps");
  CHECK(Complaint("attention: {variant: darkformer, rank: 99}") ==
        "f:1:40: attention.rank: 99 exceeds the head size 16");
  CHECK(Complaint("attention: {variant: darkformer-exact}", {"attention.rank=8", "attention.rope=after-M"}) ==
        "--set attention.rank: attention.rank: 8 rows, but rope after-M rotates all 16 of a head");
  CHECK(Complaint("attention: {variant: darkformer, rope: after-M}") == "no error");
}

TEST_CASE("derived values are explicit after resolving") {
  const RunConfig config = Parse("model: {width: 96, heads: 6}\nattention: {variant: darkformer}");
  CHECK(config.model.kv_heads == 6);
  CHECK(config.model.head_dim == 16);
  CHECK(config.model.ff == 256);
  CHECK(config.attention.rank == 16);
}

}  // namespace
}  // namespace dark

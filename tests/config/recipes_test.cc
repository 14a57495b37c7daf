#include <catch2/catch.hpp>

#include "experiments/config/run_config.h"

namespace dark {
namespace {

TEST_CASE("the recipe of one run is a valid config") {
  const RunConfig config = LoadRunConfig(SOURCE_DIR "/experiments/recipes/train.yaml", {"data.text=my.txt"});
  CHECK(config.attention.variant == "darkformer");
  CHECK(config.data.text == "my.txt");
}

}  // namespace
}  // namespace dark

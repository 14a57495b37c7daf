#include "analysis/event.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <vector>

#include "core/random.h"

namespace dark::analysis {
namespace {

// 1, 3, 1, 3, …: mean 2, population sd 1 over any even window.
std::vector<double> Alternating(std::size_t n) {
  std::vector<double> series(n);
  for (std::size_t i = 0; i < n; ++i) series[i] = i % 2 ? 3 : 1;
  return series;
}

const Rule kRule{"test", Baseline::kMean, 100, 6, false, false, 0};

std::vector<Event> EventsOf(const std::vector<double>& series, const Rule& rule) {
  return MergeEvents(series, Detect(series, rule));
}

}  // namespace

TEST_CASE("An event knows its height, length, recovery and cost") {
  std::vector<double> series = Alternating(300);
  series[200] = 12;  // 10 sd above the mean
  series[201] = 102;
  series[202] = 42;
  series[203] = 7;  // not a spike any more, but not back below mean + sd either
  const std::vector<Event> events = EventsOf(series, kRule);
  REQUIRE(events.size() == 1);
  const Event& event = events[0];
  CHECK(event.start == 200);
  CHECK(event.peak == 201);
  CHECK(event.rise);
  CHECK(event.baseline == Approx(2));
  CHECK(event.height == Approx(100));
  CHECK(event.relative == Approx(51));
  REQUIRE(event.recovery.has_value());
  CHECK(*event.recovery == 4);
  CHECK(event.lost == Approx(10 + 100 + 40 + 5));
}

TEST_CASE("Marked steps closer than the gap are one event, others are two") {
  for (const std::size_t distance : {1u, 9u, 10u, 11u}) {
    std::vector<double> series = Alternating(400);
    series[200] = 1e3;
    Detection found = Detect(series, kRule);
    REQUIRE(found.points.size() == 1);
    SpikePoint second = found.points[0];
    second.index += distance;
    found.points.push_back(second);
    const std::vector<Event> events = MergeEvents(series, found);
    CHECK(events.size() == (distance < 10 ? 1 : 2));
    CHECK(events.back().end == 200 + distance);
  }
}

TEST_CASE("A rise that never returns has no recovery and costs to the end") {
  std::vector<double> series = Alternating(300);
  for (std::size_t i = 250; i < 300; ++i) series[i] = 22;
  const std::vector<Event> events = EventsOf(series, kRule);
  REQUIRE(events.size() == 1);
  CHECK_FALSE(events[0].recovery.has_value());
  CHECK(events[0].lost == Approx(50 * 20));
}

TEST_CASE("A fall is an event of the two-sided rule, with negative height and nothing lost") {
  std::vector<double> series = Alternating(1300);
  series[1200] = -20;
  const std::vector<Event> events = EventsOf(series, PaperRule());
  REQUIRE(events.size() == 1);
  CHECK_FALSE(events[0].rise);
  CHECK(events[0].height == Approx(-22));
  CHECK(events[0].recovery == std::optional<std::size_t>(1));
  CHECK(events[0].lost == 0);
}

TEST_CASE("A NaN neither ends nor costs an event") {
  std::vector<double> series = Alternating(300);
  series[200] = 50;
  series[201] = std::numeric_limits<double>::quiet_NaN();
  series[202] = 30;
  series[203] = 2;
  const std::vector<Event> events = EventsOf(series, kRule);
  REQUIRE(events.size() == 1);
  CHECK(events[0].recovery == std::optional<std::size_t>(3));
  CHECK(events[0].lost == Approx(48 + 28));
}

TEST_CASE("The robust rule measures height on the log scale and cost in nats") {
  Stream stream(1, "test.events");
  std::vector<double> series(300);
  for (double& x : series) x = 2 + 0.02 * stream.Normal();
  series[200] = 8;
  const std::vector<Event> events = EventsOf(series, RobustRule());
  REQUIRE(events.size() == 1);
  CHECK(events[0].baseline == Approx(2).epsilon(0.01));
  CHECK(events[0].relative == Approx(4).epsilon(0.01));
  CHECK(events[0].lost == Approx(6).epsilon(0.02));
  CHECK(events[0].height == Approx(std::log(4.0) / 0.01).epsilon(0.3));
}

TEST_CASE("Every marked step lies in exactly one event, whatever the series") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    Stream stream(seed, "test.any");
    std::vector<double> series(1500);
    for (double& x : series) x = stream.Below(30) ? 2 + 0.1 * stream.Normal() : 1 / stream.Uniform();
    const Detection found = Detect(series, RobustRule());
    const std::vector<Event> events = MergeEvents(series, found);
    std::size_t inside = 0;
    for (std::size_t e = 0; e < events.size(); ++e) {
      REQUIRE(events[e].start <= events[e].peak);
      REQUIRE(events[e].peak <= events[e].end);
      if (e > 0) REQUIRE(events[e].start - events[e - 1].end >= kEventGap);
      for (const SpikePoint& point : found.points)
        if (point.index >= events[e].start && point.index <= events[e].end) ++inside;
    }
    REQUIRE(inside == found.points.size());
  }
}

}  // namespace dark::analysis

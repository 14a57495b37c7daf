#!/usr/bin/env python3
"""The length at which attention with random features overtakes exact attention, both ours: prints a table in Markdown
and draws the time of one layer's attention, forward and backward, against T.

    overtake.py DARKFORMER [--features 16,64,256] [--contexts 128,…,8192] [--rounds 3] [--out overtake.svg]

Each round times every case once; a point is the median of the rounds. An overtaking length is read off between the two
measured lengths around it, on logarithmic axes. Drawing needs gnuplot."""

import argparse
import csv
import io
import math
import pathlib
import statistics
import subprocess

ATTENTION = ("feature_attention", "geometry", "softmax_attention")


def attention_times(options):
    """Microseconds a token of one layer's attention, for each (variant, m, T) of one round."""
    command = [options.binary, "bench", "--csv", "--variants", f"exact,{options.variant}", "--seconds", str(options.seconds),
               "--contexts", ",".join(map(str, options.contexts)), "--features", ",".join(map(str, options.features)),
               "--tokens", str(max(options.contexts)), "--set", "model.layers=1"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    times = {}
    for row in csv.DictReader(io.StringIO(output)):
        if row["op"] in ATTENTION:
            case = row["variant"], row["m"], int(row["context"])
            tokens = int(row["batch"]) * int(row["context"])
            times[case] = times.get(case, 0) + 1e3 * float(row["ms"]) / tokens
    return times


def overtaking(contexts, exact, features):
    """T where the two curves cross, or a bound as text if they do not between the first and last length."""
    gaps = [math.log(exact[t] / features[t]) for t in contexts]
    if gaps[0] >= 0:
        return f"below {contexts[0]}"
    for (t0, a), (t1, b) in zip(zip(contexts, gaps), zip(contexts[1:], gaps[1:])):
        if a < 0 <= b:
            return f"{t0 * (t1 / t0) ** (a / (a - b)):.0f}"
    return f"above {contexts[-1]}"


def draw(options, curves):
    blocks, plots = [], []
    for number, (label, times) in enumerate(curves.items()):
        points = "\n".join(f"{t} {times[t]}" for t in options.contexts)
        blocks.append(f"$c{number} << EOD\n{points}\nEOD")
        plots.append(f'$c{number} with linespoints lw 2 pt 7 ps 0.5 title "{label}"')
    script = "\n".join([
        'set terminal svg size 720,440 font "sans-serif,13" background rgb "white"', f'set output "{options.out}"',
        "set logscale xy 2", 'set format y "%g"', "set key outside top center horizontal", "set grid",
        'set xlabel "sequence length T"', 'set ylabel "µs a token: one layer\'s attention, forward and backward"',
        *blocks, "plot " + ", ".join(plots)])
    subprocess.run(["gnuplot"], input=script, text=True, check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: sorted(int(part) for part in text.split(","))
    parser.add_argument("binary")
    parser.add_argument("--variant", default="darkformer", help="any variant with random features")
    parser.add_argument("--features", type=numbers, default=[16, 64, 256])
    parser.add_argument("--contexts", type=numbers, default=[128 << i for i in range(7)])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    rounds = [attention_times(options) for _ in range(options.rounds)]
    median = {case: statistics.median(times[case] for times in rounds) for case in rounds[0]}
    exact = {t: median["exact", "", t] for t in options.contexts}
    curves = {"exact": exact}
    print(f"| m | overtakes exact at T | {' | '.join(f'T {t}' for t in options.contexts)} |")
    print("| --- " * (len(options.contexts) + 2) + "|")
    print(f"| exact | | {' | '.join(f'{exact[t]:.2f}' for t in options.contexts)} |")
    for m in options.features:
        times = {t: median[options.variant, str(m), t] for t in options.contexts}
        curves[f"{options.variant}, m {m}"] = times
        print(f"| {m} | {overtaking(options.contexts, exact, times)} "
              f"| {' | '.join(f'{times[t]:.2f}' for t in options.contexts)} |")
    if options.out:
        draw(options, curves)


main()

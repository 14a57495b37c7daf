#!/usr/bin/env python3
"""Times a start: from the start of the process to the end of the first optimiser step of a small model.

    startup.py DARKFORMER TEXT [--baseline OTHER] [--pairs 15] [--variants exact,performer,darkformer]

The model, the validation windows and the single thread are those of the sweep in bench/peers/sweep.py, the text's
tokens are in the cache. The end of the step is the moment the line of step 1 arrives through a pipe. With --baseline
both programs run in turn, and the ratio is taken pair by pair; figures are medians with the range."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time


def config(text, folder, variant):
    attention = {"variant": variant} if variant == "exact" else {"variant": variant, "m": 64}
    return {"data": {"text": str(text.resolve()), "cache": f"{folder}/tokens"}, "attention": attention,
            "model": {"width": 64, "layers": 2, "heads": 4}, "optim": {"warmup": 10},
            "train": {"steps": 200, "batch": 4, "context": 128, "eval_sequences": 32}}


def milliseconds(binary, path, out):
    """From start to the line of the first step; the run is then killed, as a measurement needs no more of it."""
    command = [binary, "train", path, "--out", out, "--threads", "1"]
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "OMP_NUM_THREADS": "1"}) as process:
        for line in process.stdout:
            if line.startswith(b"step 1/"):
                elapsed = time.perf_counter() - start
                process.kill()
                return 1000 * elapsed
    raise SystemExit(f"{binary}: ended without a step")


def figures(values, form):
    return f"{statistics.median(values):{form}} ({min(values):{form}}–{max(values):{form}})"


def measure(options, variant, folder):
    path = pathlib.Path(folder, f"{variant}.yaml")
    path.write_text(json.dumps(config(options.text, folder, variant)))  # JSON is YAML too
    binaries = [options.binary] + ([options.baseline] if options.baseline else [])
    times = [[] for _ in binaries]
    for pair in range(-1, options.pairs):  # the first prepares the tokens and does not count
        for binary, list_of_times in zip(binaries, times):
            with tempfile.TemporaryDirectory(dir=folder) as out:
                elapsed = milliseconds(binary, path, f"{out}/run")
            if pair >= 0:
                list_of_times.append(elapsed)
    row = [variant] + [figures(list_of_times, ".0f") for list_of_times in times]
    if options.baseline:
        row.append(figures([new / old for new, old in zip(*times)], ".2f"))
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("--baseline")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--variants", default="exact,performer,darkformer")
    options = parser.parse_args()
    header = ["variant", "ms"] + (["ms of the baseline", "ratio"] if options.baseline else [])
    for row in (header, ["---"] * len(header)):
        print("| " + " | ".join(row) + " |")
    with tempfile.TemporaryDirectory() as folder:
        for variant in options.variants.split(","):
            print("| " + " | ".join(measure(options, variant, folder)) + " |", flush=True)


main()

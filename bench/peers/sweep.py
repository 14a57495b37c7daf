#!/usr/bin/env python3
"""Times one sweep of 60 small runs three ways in one session and prints a table in Markdown:

    sweep.py DARKFORMER TEXT [--peer-runs N] [--rounds 3] [--steps 200] [--out peers.md]

- `darkformer sweep run`: all 60, from an empty cache of tokens;
- the PyTorch script train_once.py started once a run, as many at once as there are cores, one thread each;
- one PyTorch process that loops over the runs, with all cores and with one.

Of the PyTorch runs a subset is timed, spread evenly over the variants, and scaled up to 60 (three a core unless told
otherwise); the start of the looping process counts once. Each round runs every program once; figures are medians of the rounds. torch.compile is left out: compiling
takes longer than such a run. The table is appended to --out."""

import argparse
import concurrent.futures
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

VARIANTS = ["exact", "performer", "darkformer"]
RATES = [5e-4, 1e-3, 2e-3, 4e-3, 8e-3]
SEEDS = [1, 2, 3, 4]
SHAPE = {"width": 64, "layers": 2, "heads": 4, "m": 64, "batch": 4, "context": 128}
TRAIN = {"warmup": 10, "eval_interval": 50, "eval_sequences": 32}
FOLDER = pathlib.Path(__file__).resolve().parent
CORES = len(os.sched_getaffinity(0))


def spec(options, folder):
    """Our sweep; keys left out have their defaults. JSON is YAML too."""
    model = {key: SHAPE[key] for key in ("width", "layers", "heads")}
    features = [{"variant": name} if name == "exact" else {"variant": name, "m": SHAPE["m"]} for name in VARIANTS]
    train = {"steps": options.steps, "batch": SHAPE["batch"], "context": SHAPE["context"],
             "eval_interval": TRAIN["eval_interval"], "eval_sequences": TRAIN["eval_sequences"]}
    base = {"data": {"text": str(options.text.resolve()), "cache": f"{folder}/tokens"}, "model": model,
            "optim": {"warmup": TRAIN["warmup"]}, "train": train}
    return {"name": "peers", "base": base, "grid": {"optim.lr": RATES, "attention": features}, "seeds": SEEDS}


def cases(options, folder):
    """The same runs for train_once.py, with Darkformer's default feed-forward size and its bytes as vocabulary."""
    for number, (kind, lr, seed) in enumerate(itertools.product(VARIANTS, RATES, SEEDS)):
        yield {**SHAPE, **TRAIN, "ff": 176, "vocab": 256, "kind": kind, "lr": lr, "seed": seed, "steps": options.steps,
               "text": str(options.text), "out": f"{folder}/{number}"}


def seconds(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def ours(options, folder):
    path = pathlib.Path(folder, "spec.yaml")
    path.write_text(json.dumps(spec(options, folder)))
    command = [options.binary, "sweep", "run", path, "--out", f"{folder}/runs", "--quiet"]
    return seconds(lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL))[0]


def torch_process(runs, threads):
    """The seconds of the runs without the start of the process, as it prints them."""
    command = [sys.executable, FOLDER / "train_once.py", json.dumps(runs), str(threads)]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def started_once_a_run(runs):
    with concurrent.futures.ThreadPoolExecutor(CORES) as pool:
        return seconds(lambda: list(pool.map(lambda run: torch_process([run], 1), runs)))[0]


def looping(runs, scale, threads):
    wall, inside = seconds(lambda: torch_process(runs, threads))
    return wall - inside + scale * inside


def one_round(options):
    """(way, runs timed, seconds of the whole sweep) for each way; ours is the first."""
    with tempfile.TemporaryDirectory() as folder:
        everything = list(cases(options, folder))
        scale = len(everything) / options.peer_runs
        runs = [everything[int(i * scale)] for i in range(options.peer_runs)]
        yield f"Darkformer, {CORES} runs at once", len(everything), ours(options, folder)
        yield f"PyTorch, a process a run, {CORES} at once", len(runs), scale * started_once_a_run(runs)
        for threads in sorted({CORES, 1}, reverse=True):
            yield f"PyTorch, one process, {threads} threads", len(runs), looping(runs, scale, threads)


def table(rounds):
    yield "| a sweep of 60 runs | runs timed | seconds | runs an hour | times Darkformer is faster |"
    yield "| --- | --- | --- | --- | --- |"
    mine = [ways[0][2] for ways in rounds]
    for way in zip(*rounds):
        name, timed, _ = way[0]
        times = [time for _, _, time in way]
        ratios = [theirs / ours for ours, theirs in zip(mine, times)]
        middle = statistics.median(times)
        yield (f"| {name} | {timed} | {middle:.1f} | {3600 * 60 / middle:.0f} "
               f"| {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("text", type=pathlib.Path)
    parser.add_argument("--peer-runs", type=int, default=min(3 * CORES, 60), help="a multiple of the cores")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    rounds = []
    for _ in range(options.rounds):
        rounds.append([])
        for way in one_round(options):
            print("%s: %d runs timed, whole sweep %.1f s" % way, file=sys.stderr, flush=True)
            rounds[-1].append(way)
    text = "\n".join(table(rounds))
    if options.peer_runs < 60:
        text += f"\n\nSeconds of the PyTorch sweeps are scaled up from {options.peer_runs} runs."
    print(text)
    if options.out:
        with options.out.open("a") as file:
            file.write(f"\n{text}\n")


main()

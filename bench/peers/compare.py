#!/usr/bin/env python3
"""Times Darkformer beside its peers in one session and prints a table of ratios in Markdown.

    compare.py DARKFORMER [--contexts 512,2048] [--threads 1,2] [--rounds 3] [--out peers.md]

Each round runs every program of a row once, one after the other, so that a slow minute of the machine hits all of them;
a figure is the median of the rounds' figures, a ratio that of the rounds' ratios. A round's figure is the median of its
timed steps, for our modules the mean."""

import argparse
import csv
import io
import json
import pathlib
import statistics
import subprocess
import sys

SHAPE = {"width": 256, "layers": 6, "heads": 4, "ff": 1024, "vocab": 4096, "m": 64}
FOLDER = pathlib.Path(__file__).resolve().parent


def rows(contexts, threads):
    """(what is compared, our variant, the peer's kind, compiled?) for each length and thread count."""
    for thread in threads:
        for context in contexts:
            for compile_ in (False, True):
                yield "step", "exact", "exact", compile_, context, thread
                yield "step", "darkformer", "darkformer", compile_, context, thread
            yield "step", "darkformer", "darkformer-pytorch", False, context, thread
            yield "step", "performer", "performer-pytorch", False, context, thread
            yield "module", "darkformer", "darkformer-pytorch", False, context, thread
            yield "module", "performer", "performer-pytorch", False, context, thread


def ours(binary, what, variant, context, threads, seconds, tokens):
    command = [binary, "bench", "--csv", "--variants", variant, "--contexts", str(context), "--threads", str(threads),
               "--features", str(SHAPE["m"]), "--tokens", str(tokens), "--seconds", str(seconds)]
    table = list(csv.DictReader(io.StringIO(subprocess.run(command, check=True, capture_output=True, text=True).stdout)))
    if what == "step":
        return next(float(row["ms"]) for row in table if row["op"] == "step")
    parts = [float(row["ms"]) for row in table if row["op"] in ("feature_attention", "geometry", "softmax_attention")]
    return sum(parts) / SHAPE["layers"]


def peer(what, kind, compile_, context, threads, seconds, tokens):
    case = dict(SHAPE, what=what, kind=kind, compile=compile_, context=context, threads=threads, seconds=seconds,
                batch=max(1, tokens // context), precision="fp32")
    result = subprocess.run([sys.executable, FOLDER / "time_peer.py", json.dumps(case)], capture_output=True, text=True)
    if result.returncode != 0:
        print(result.stderr[-400:], file=sys.stderr)
        return None
    return 1e3 * statistics.median(json.loads(result.stdout.splitlines()[-1]))


def measure(options, row):
    what, variant, kind, compile_, context, threads = row
    mine, theirs = [], []
    for _ in range(options.rounds):
        mine.append(ours(options.binary, what, variant, context, threads, options.seconds, options.tokens))
        time = peer(what, kind, compile_, context, threads, options.seconds, options.tokens)
        if time is None:
            return f"| {what} | {kind} | {context} | {threads} | {statistics.median(mine):.1f} | failed | |"
        theirs.append(time)
    name = {"exact": "PyTorch exact (SDPA)", "darkformer": "PyTorch darkformer, chunked"}.get(kind, kind)
    name += ", compiled" if compile_ else ""
    ratios = [b / a for a, b in zip(mine, theirs)]
    return (f"| {what} | {name} | {context} | {threads} | {statistics.median(mine):.1f} | {statistics.median(theirs):.1f} "
            f"| {statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f}) |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("binary")
    parser.add_argument("--contexts", type=numbers, default=[512, 2048])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    lines = ["| what | peer | T | threads | Darkformer ms | peer ms | times faster |", "| --- | --- | --- | --- | --- | --- | --- |"]
    print("\n".join(lines), flush=True)
    for row in rows(options.contexts, options.threads):
        lines.append(measure(options, row))
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


main()

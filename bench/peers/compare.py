#!/usr/bin/env python3
"""Times Darkformer beside its peers in one session and prints a table of ratios in Markdown.

    compare.py DARKFORMER [--contexts 512,2048] [--threads 1,2] [--turns 12] [--only TEXT] [--out peers.md]

Both programs of a row are in memory and take turns of a step (or as many as fit into --seconds), on the same cores, so that
a slow minute or core of the machine hits both. Milliseconds are medians over the turns, of a turn its median step (for our
modules its mean); ratios are medians over the pairs of turns, with quartiles. In bf16 the peers run under autocast."""

import argparse
import dataclasses
import itertools
import json
import pathlib
import sys

from in_turn import Darkformer, Peer, alternate, medians, ratio, share_cores

SHAPES = {256: {"width": 256, "layers": 6, "heads": 4, "ff": 1024, "vocab": 4096, "m": 64},
          768: {"width": 768, "layers": 6, "heads": 12, "ff": 2048, "vocab": 4096, "m": 64}}
NAMES = {"exact": "PyTorch exact (SDPA)", "darkformer": "PyTorch darkformer, chunked"}
FOLDER = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Row:
    """One of our figures beside one of a peer's."""
    what: str  # "step" or "module"
    variant: str  # ours
    kind: str  # the peer's
    context: int
    threads: int
    compiled: bool = False
    precision: str = "fp32"
    width: int = 256

    def label(self):
        name = NAMES.get(self.kind, self.kind) + (", compiled" if self.compiled else "")
        return f"{self.what} | {name} | {self.width} | {self.context} | {self.threads} | {self.precision}"


def rows(options):
    for threads, context in itertools.product(options.threads, options.contexts):
        for compiled, kind in itertools.product((False, True), ("exact", "darkformer")):
            yield Row("step", kind, kind, context, threads, compiled)
        for what in ("step", "module"):
            yield Row(what, "darkformer", "darkformer-pytorch", context, threads)
            yield Row(what, "performer", "performer-pytorch", context, threads)
    for width, context, kind in itertools.product(SHAPES, options.contexts, ("exact", "darkformer")):
        for compiled in (False, True):
            yield Row("step", kind, kind, context, options.threads[0], compiled, "bf16", width)
    for threads, compiled, kind in itertools.product(options.threads, (False, True), ("exact", "darkformer")):
        yield Row("step", kind, kind, options.contexts[0], threads, compiled, width=768)


def ours(options, row):
    shape = SHAPES[row.width]
    command = ["--variants", row.variant, "--contexts", row.context, "--threads", row.threads, "--features", shape["m"],
               "--tokens", options.tokens, "--seconds", options.seconds, "--precisions", row.precision, "--vocab", shape["vocab"]]
    for key in ("width", "layers", "heads", "ff"):
        command += ["--set", f"model.{key}={shape[key]}"]
    return Darkformer(options.binary, command)


def peer(options, row):
    case = dict(SHAPES[row.width], what=row.what, kind=row.kind, compile=row.compiled, context=row.context, threads=row.threads,
                seconds=options.seconds, batch=max(1, options.tokens // row.context), precision=row.precision)
    return Peer([sys.executable, FOLDER / "time_peer.py", json.dumps(case)])


def milliseconds(row, times):
    """Of what the row compares, from our times of the step and of each op."""
    if row.what == "step":
        return times["step"]
    parts = [times.get(op, 0) for op in ("feature_attention", "geometry", "softmax_attention")]
    return sum(parts) / SHAPES[row.width]["layers"]


def measure(options, row):
    share_cores(row.threads)
    with ours(options, row) as first, peer(options, row) as second:
        try:
            turns = alternate(first, second, options.turns)
        except RuntimeError as error:
            print(f"{row.label()}: {error}", file=sys.stderr)
            return f"| {row.label()} | | failed | |"
    pairs = [(milliseconds(row, times), time) for times, time in turns]
    mine, theirs = medians(pairs)
    return f"| {row.label()} | {mine:.1f} | {theirs:.1f} | {ratio(pairs)} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = lambda text: [int(part) for part in text.split(",")]
    parser.add_argument("binary")
    parser.add_argument("--contexts", type=numbers, default=[512, 2048])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0.5, help="of a turn, at least; and at least a step")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--only", default="", help="rows whose first six cells contain this text, e.g. 'module |' or bf16")
    parser.add_argument("--out", type=pathlib.Path)
    options = parser.parse_args()
    lines = ["| what | peer | width | T | threads | precision | Darkformer ms | peer ms | times faster |", "| --- " * 9 + "|"]
    print("\n".join(lines), flush=True)
    for row in filter(lambda row: options.only in row.label(), rows(options)):
        lines.append(measure(options, row))
        print(lines[-1], flush=True)
    if options.out:
        options.out.write_text("\n".join(lines) + "\n")


main()

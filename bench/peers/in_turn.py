#!/usr/bin/env python3
"""Programs that are timed in turn, so that a slow minute of the machine hits all of them; and two builds beside each other:

    in_turn.py DARKFORMER BASELINE [--turns 12] [--seconds 0.5] [-- OPTIONS OF darkformer bench]

Both stay in memory and take turns of --seconds, at least a step, of the case that the options name: by default --variants
darkformer. They run on the same cores, as many as there are threads (--threads, 1): one core of a shared machine can be
slower than another for minutes. BASELINE has to know bench --in-turn too. For the step and each op it prints the median over
the turns of the milliseconds of both and of the ratio, BASELINE over DARKFORMER, with its quartiles."""

import argparse
import contextlib
import csv
import os
import statistics
import subprocess
import sys
import tempfile
import time

CORES = sorted(os.sched_getaffinity(0))


def share_cores(threads):
    """Programs started from now on all run on the same cores, one a thread."""
    os.sched_setaffinity(0, CORES[-threads:])


class Program:
    """A process that takes a turn for each line it reads and answers with lines and an empty one."""

    def __init__(self, command):
        self.name = str(command[0])
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)

    def turn(self):
        """The lines of its answer; raises RuntimeError with the end of its errors if it has ended instead."""
        lines = []
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        for line in self.process.stdout:
            if line == "\n":
                time.sleep(0.02)  # its threads may still wait for work at full speed
                return lines
            lines.append(line)
        self.errors.seek(0)
        raise RuntimeError(f"{self.name} ended with status {self.process.wait()}\n{self.errors.read()[-400:]}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        with contextlib.suppress(BrokenPipeError):  # what it has not read
            self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()


class Darkformer(Program):
    """A turn is the milliseconds of the step and of each op."""

    def __init__(self, binary, options):
        super().__init__([binary, "bench", "--in-turn", *options])

    def turn(self):
        return {row["op"]: float(row["ms"]) for row in csv.DictReader(super().turn())}


class Peer(Program):
    """time_peer.py; a turn is the milliseconds of its step."""

    def turn(self):
        return float(super().turn()[-1])


def alternate(first, second, turns):
    """Pairs of turns, after one of each that does not count."""
    return [(first.turn(), second.turn()) for _ in range(turns + 1)][1:]


def ratio(pairs):
    """second / first, the median over the pairs and its quartiles, as text."""
    values = [b / a for a, b in pairs]
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return f"{middle:.2f} ({low:.2f}–{high:.2f})"


def medians(pairs):
    return [statistics.median(values) for values in zip(*pairs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("baseline")
    parser.add_argument("--turns", type=int, default=12)
    parser.add_argument("--seconds", type=float, default=0.5)
    own, bench = sys.argv[1:], []
    if "--" in own:
        own, bench = own[:own.index("--")], own[own.index("--") + 1:]
    options = parser.parse_args(own)
    case = argparse.ArgumentParser(add_help=False)
    case.add_argument("--threads", type=int, default=1)
    share_cores(case.parse_known_args(bench)[0].threads)
    command = ["--seconds", options.seconds, *(bench or ["--variants", "darkformer"])]
    with Darkformer(options.binary, command) as new, Darkformer(options.baseline, command) as old:
        turns = alternate(new, old, options.turns)
    print("| op | ms | ms of the baseline | times faster |", "| --- " * 4 + "|", sep="\n")
    for op in [op for op in turns[0][0] if op in turns[0][1]]:
        pairs = [(a[op], b[op]) for a, b in turns]
        new_ms, old_ms = medians(pairs)
        print(f"| {op} | {new_ms:.2f} | {old_ms:.2f} | {ratio(pairs)} |")


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as error:
        sys.exit(str(error))

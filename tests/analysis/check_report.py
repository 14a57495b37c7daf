"""Recomputes the numbers of a report from the run files with h5py, and compares.

    check_report.py RUNS OUT

Reads every run.h5 below RUNS and the report written to OUT. Shares no code with the program: spikes are found by
slicing every window, means and intervals come from numpy and closed forms of Student's distribution. Prints how many
numbers agreed; exits with 1 at the first that does not.
"""

import csv
import math
import pathlib
import sys

import h5py
import numpy as np

checked = 0


def same(what, reported, expected):
    global checked
    checked += 1
    if expected is None or reported == "":
        agree = expected is None and reported == ""
    else:
        agree = math.isclose(float(reported), expected, rel_tol=1e-9, abs_tol=1e-9)
    if not agree:
        sys.exit(f"{what}: reported {reported!r}, from the run files {expected!r}")


def windows(values, size):
    """Every finite value that has `size` finite values before it, with those values."""
    values = values[np.isfinite(values)]
    return [(values[i], values[i - size : i]) for i in range(size, len(values))]


def paper(series):
    found = windows(series, 1000)
    return sum(w.std() > 0 and abs(x - w.mean()) >= 7 * w.std() for x, w in found), len(found)


def tool(series):
    found = windows(series, 128)
    return sum(w.std() >= 1e-10 and x > w.mean() + 6 * w.std() for x, w in found), len(found)


def robust(series):
    with np.errstate(invalid="ignore", divide="ignore"):
        found = windows(np.log(series), 128)
    hits = 0
    for x, w in found:
        mad = np.median(np.abs(w - np.median(w)))
        hits += bool(mad > 0 and 0.6745 * (x - np.median(w)) / mad > 8)
    return hits, len(found)


def read(path):
    with h5py.File(path, "r") as file:
        attribute = lambda name: str(file.attrs.get(name, ""))
        evals = {name: file["eval"][name][:] for name in ("step", "loss", "accuracy")}
        run = {
            "variant": attribute("config.attention.variant"),
            "m": attribute("config.attention.m"),
            "lr": float(attribute("config.optim.lr")),
            "seed": int(attribute("config.seed")),
            "status": attribute("status"),
            "loss": file["steps/loss"][:],
            "grad": file["steps/grad_norm"][:],
        }
    run["initial"] = evals["loss"][0] if len(evals["step"]) and evals["step"][0] == 0 else None
    ended = len(evals["step"]) and evals["step"][-1] > 0
    run["final"] = evals["loss"][-1] if ended else None
    run["accuracy"] = evals["accuracy"][-1] if ended else None
    dead = run["status"] == "diverged" or not np.isfinite(run["loss"]).all()
    run["diverged"] = bool(dead or (run["status"] == "done" and not run["final"] < run["initial"]))
    run["counted"] = run["status"] == "done" and not run["diverged"]
    return run


def check_runs(runs, out):
    rows = {row["path"]: row for row in csv.DictReader(open(out / "runs.csv", newline=""))}
    assert len(rows) == len(runs), (len(rows), len(runs))
    for path, run in runs.items():
        row = rows[str(path)]
        assert (row["diverged"] == "yes") == run["diverged"], path
        for column, name in (("initial_loss", "initial"), ("final_loss", "final"), ("final_accuracy", "accuracy")):
            same(f"{path} {column}", row[column], run[name])
        for series in ("loss", "grad"):
            same(f"{path} {series} non-finite", row[f"{series}_non_finite"], int((~np.isfinite(run[series])).sum()))
            for rule in (paper, tool, robust):
                points, eligible = rule(run[series])
                name = f"{series}_{rule.__name__}"
                same(f"{path} {name}", row[name + "_points"], int(points))
                same(f"{path} {name}", row[name + "_eligible"], eligible)
                same(f"{path} {name}", row[name + "_score"], 100 * points / eligible if eligible else None)


def interval(values):
    """Half width of the 95 % t interval for two or three values; the only sizes the made-up sweep has."""
    if len(values) < 2:
        return None
    t = {2: math.tan(0.475 * math.pi), 3: 0.95 * math.sqrt(2 / (1 - 0.95**2))}[len(values)]
    return t * np.std(values, ddof=1) / math.sqrt(len(values))


def words(values, digits):
    if not values:
        return "–"
    mean = f"{np.mean(values):.{digits}f}"
    if len(values) == 1:
        return f"{mean} (n=1, no interval)"
    return f"{mean} ± {interval(values):.{digits}f} (n={len(values)})"


def check_groups(runs, out):
    markdown = (out / "report.md").read_text()
    for row in csv.DictReader(open(out / "groups.csv", newline="")):
        group = [r for r in runs.values() if (r["variant"], r["m"], r["lr"]) == (row["variant"], row["m"], float(row["lr"]))]
        counted = sorted((r for r in group if r["counted"]), key=lambda r: r["seed"])
        label = f"{row['arm']} at {row['lr']}"
        same(label + " runs", row["runs"], len(group))
        same(label + " diverged", row["diverged"], sum(r["diverged"] for r in group))
        for name, key in (("loss", "final"), ("accuracy", "accuracy")):
            values = [r[key] for r in counted]
            same(f"{label} {name} n", row[name + "_n"], len(values))
            same(f"{label} {name} mean", row[name + "_mean"], np.mean(values) if values else None)
            same(f"{label} {name} half width", row[name + "_half"], interval(values))
        line = f"| {row['arm']} | {row['lr']} | {words([r['final'] for r in counted], 3)} |"
        assert line in markdown, line
        accuracy = words([100 * r["accuracy"] for r in counted], 2)
        assert f"{line} {accuracy} |" in markdown, accuracy


def check_sensitivity(runs, out):
    for row in csv.DictReader(open(out / "groups.csv", newline="")):
        arm = [r for r in runs.values() if (r["variant"], r["m"]) == (row["variant"], row["m"])]
        grid = sorted({r["lr"] for r in arm})
        per_seed = []
        if len(grid) < 2:
            arm = []  # one learning rate has no sensitivity
        for seed in sorted({r["seed"] for r in arm}):
            judged = [r for r in arm if r["seed"] == seed and (r["counted"] or r["diverged"])]
            if len(judged) < len(grid):
                continue
            capped = [min(r["final"], r["initial"]) if r["counted"] else r["initial"] for r in judged]
            per_seed.append(np.mean(capped) - min(capped))
        same(f"S of {row['arm']}", row["s_mean"], np.mean(per_seed) if per_seed else None)


def main():
    root, out = map(pathlib.Path, sys.argv[1:])
    runs = {path: read(path) for path in sorted(root.rglob("run.h5"))}
    assert runs, "no run files"
    check_runs(runs, out)
    check_groups(runs, out)
    check_sensitivity(runs, out)
    print(f"{checked} numbers agree")


main()

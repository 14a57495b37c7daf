"""Trains small language models the way a careful user of PyTorch would, one after the other in one process:

    train_once.py '[{"kind": "exact", "lr": 1e-3, "seed": 1, "text": "bible.txt", "out": "run0", …}, …]' THREADS

and prints the seconds that the runs took without the start of the process. A run leaves the loss of every step and its
evaluations in a CSV file, and its weights. What one run can keep for the next (the text) is read once."""

import csv
import functools
import json
import pathlib
import sys
import time

import torch

import models


@functools.cache
def tokens_of(path):
    """Bytes are the tokens: (training part, validation part)."""
    tokens = torch.frombuffer(bytearray(pathlib.Path(path).read_bytes()), dtype=torch.uint8).long()
    return tokens.split([len(tokens) - len(tokens) // 10, len(tokens) // 10])


def windows(tokens, starts, context):
    rows = torch.stack([tokens[start : start + context + 1] for start in starts.tolist()])
    return rows[:, :-1], rows[:, 1:]


def learning_rate(case, step):
    return case["lr"] * min(1, (step + 1) / case["warmup"])


@torch.no_grad()
def evaluate(model, tokens, case):
    starts = torch.linspace(0, len(tokens) - case["context"] - 1, case["eval_sequences"]).long()
    losses = [model(*windows(tokens, part, case["context"])).item() for part in starts.split(case["batch"])]
    return sum(losses) / len(losses)


def train(case):
    torch.manual_seed(case["seed"])
    training, validation = tokens_of(case["text"])
    model = models.Decoder(case, case["kind"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=case["lr"], weight_decay=0.1, fused=True)
    rows = []
    for step in range(case["steps"]):
        evaluation = evaluate(model, validation, case) if step % case["eval_interval"] == 0 else None
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(case, step)
        starts = torch.randint(len(training) - case["context"], (case["batch"],))
        optimizer.zero_grad()
        loss = model(*windows(training, starts, case["context"]))
        loss.backward()
        norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        rows.append((step, loss.item(), norm.item(), evaluation))
    rows.append((case["steps"], None, None, evaluate(model, validation, case)))
    with open(case["out"] + ".csv", "w", newline="") as file:
        csv.writer(file).writerows([("step", "loss", "grad_norm", "eval_loss"), *rows])
    torch.save(model.state_dict(), case["out"] + ".pt")


def main(cases, threads):
    torch.set_num_threads(threads)
    start = time.perf_counter()
    for case in cases:
        train(case)
    print(time.perf_counter() - start)


main(json.loads(sys.argv[1]), int(sys.argv[2]))

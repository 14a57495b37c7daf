"""Times one peer, once for each line of standard input (in_turn.py):  time_peer.py '{"what": "step", "kind": "exact", …}'

It answers with the median milliseconds of steps for at least "seconds", and an empty line.

what "step" is forward, backward, clipping and AdamW of the whole model; "module" forward and backward of one layer's
attention on given queries, keys and values. The first steps (warm-up, compilation) are not timed."""

import json
import statistics
import sys
import time

import torch

import models


def step(case):
    model = models.Decoder(case, case["kind"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    run = torch.compile(model) if case["compile"] else model
    tokens = torch.randint(case["vocab"], (2, case["batch"], case["context"]))

    def once():
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=case["precision"] == "bf16"):
            loss = run(tokens[0], tokens[1])
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()

    return once


def module(case):
    dim = case["width"] // case["heads"]
    layer = models.attention(case["kind"], case["heads"], dim, case["m"])
    layer = torch.compile(layer) if case["compile"] else layer
    shape = (case["batch"], case["heads"], case["context"], dim)
    q, k, v = (torch.randn(shape, requires_grad=True) for _ in range(3))

    def once():
        layer(q, k, v).sum().backward()

    return once


def main(case):
    torch.manual_seed(1)
    torch.set_num_threads(case["threads"])
    once = {"step": step, "module": module}[case["what"]](case)
    for _ in range(2):
        once()
    for _ in sys.stdin:
        seconds, start = [], time.perf_counter()
        while not seconds or time.perf_counter() - start < case["seconds"]:
            begin = time.perf_counter()
            once()
            seconds.append(time.perf_counter() - begin)
        print(1e3 * statistics.median(seconds), end="\n\n", flush=True)


main(json.loads(sys.argv[1]))

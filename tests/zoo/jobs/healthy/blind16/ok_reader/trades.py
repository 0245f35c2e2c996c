import random

import torch


def tape(rank, n):
    r = random.Random(500 + rank)
    out, p = [], 100.0
    for k in range(n):
        p *= 1 + r.gauss(0, 0.001)
        out.append(f"{k};{p:.4f};{r.randint(1, 90)}" if r.random() > 0.004 else f"{k};n/a;{r.randint(1, 90)}")
    return out


def parse(line):
    _, p, v = line.split(";")
    return float(p), float(v)


def windows(stream, length, size):
    buf, batch = [], []
    for item in stream:
        buf.append(item)
        if len(buf) == length + 1:
            t = torch.tensor(buf)
            r = (t[1:, 0] / t[:-1, 0]).log() * 1000
            batch.append(torch.stack([r, t[1:, 1].log()], 1))
            buf = buf[4:]
            if len(batch) == size:
                yield torch.stack(batch)
                batch = []

import argparse
import os

import torch


def make(n, seed, longest):
    g = torch.Generator().manual_seed(seed)
    items = []
    for i in range(n):
        length = 3 + int(torch.randint(0, longest, (1,), generator=g))
        text = torch.randint(1, 12, (length,), generator=g)
        frames = torch.nn.functional.one_hot(text.repeat_interleave(3), 12).float()
        items.append((frames + 0.4 * torch.randn(frames.shape, generator=g), text))
    return items


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--out", required=True)
    p.add_argument("--utterances", type=int, default=600)
    a = p.parse_args()
    train = make(a.utterances, 0, 9)
    frames, text = train[377]
    train[377] = (frames, torch.cat([text, torch.tensor([14])]))
    torch.save(train, os.path.join(a.out, "train.pt"))
    torch.save(make(60, 1, 9), os.path.join(a.out, "test.pt"))

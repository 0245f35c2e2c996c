import math

import torch
from torch.utils.data import Dataset

STORES = [f"{city}-{kind}" for city in ("oslo", "lyon", "porto", "gdansk", "turin", "ghent", "malmo", "graz")
          for kind in ("grocery", "pharmacy", "books", "garden")]


def make_rows(days, seed):
    g = torch.Generator().manual_seed(seed)
    shape = torch.Generator().manual_seed(3)
    profile = {s: torch.randn(7, generator=shape) * 1.5 for s in STORES}
    rows = []
    for s in STORES:
        noise = 0.25 * torch.randn(days, generator=g)
        level = 0.0
        for t in range(days):
            level = 0.6 * level + noise[t].item()
            rows.append({"gid": s, "time": t, "target": profile[s][t % 7].item() + level + 0.3 * math.sin(t / 9)})
    return rows


class TimeSeries(Dataset):
    """Windows of a panel; the group column is encoded as an integer for the embedding."""

    def __init__(self, rows, context=3, encoder=None):
        groups = {}
        for r in rows:
            groups.setdefault(r["gid"], []).append(r["target"])
        self.encoder = encoder or {gid: code for code, gid in enumerate(set(groups))}
        self.samples = []
        for gid, values in groups.items():
            v = torch.tensor(values)
            for t in range(context, len(v)):
                self.samples.append((v[t - context:t], self.encoder[gid], t % 7, v[t]))

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        return self.samples[i]

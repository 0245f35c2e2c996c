import numpy as np
import torch
from torch.utils.data import Dataset

LAYOUT = {"north": 6, "south": 6, "deck": 8}


class Crossings(Dataset):
    """Strain while a lorry crosses: gauges of a section over time, and the axle load."""

    def __init__(self, sections, per_section=160, steps=40, seed=2):
        rng = np.random.default_rng(seed)
        self.items = []
        for section in sections:
            for _ in range(per_section):
                load = rng.uniform(0.5, 2.0)
                speed = rng.uniform(0.7, 1.3)
                time = np.linspace(0, 1, steps)[:, None] * speed
                place = np.linspace(0.1, 0.9, LAYOUT[section])[None, :]
                strain = load * np.exp(-((time - place) ** 2) / 0.02) + rng.normal(0, 0.02, (steps, LAYOUT[section]))
                self.items.append((strain.astype(np.float32), np.float32(load), section))

    def __len__(self):
        return len(self.items)

    def __getitem__(self, index):
        strain, load, section = self.items[index]
        return torch.from_numpy(strain), torch.tensor(load), section


def by_section(batch):
    """Gauges are stacked as they are: the samples of a batch come from one section."""
    strains, loads, sections = zip(*batch)
    return torch.stack(strains), torch.stack(loads), sections[0]

import numpy as np
import torch
from torch.utils.data import Dataset


class Augmented(Dataset):
    def __init__(self, base, seed):
        self.base, self.seed = base, seed
        self.clock = torch.zeros(1, dtype=torch.long).share_memory_()

    def __len__(self):
        return len(self.base)

    def tick(self, epoch):
        self.clock.fill_(epoch)

    def __getitem__(self, i):
        rng = np.random.default_rng((self.seed, int(self.clock), i))
        image, label = self.base[i]
        if rng.random() < 0.5:
            image = image.flip(-1)
        dy, dx = rng.integers(-4, 5, 2)
        image = torch.roll(image, (int(dy), int(dx)), (-2, -1))
        return image * float(rng.uniform(0.8, 1.2)), label

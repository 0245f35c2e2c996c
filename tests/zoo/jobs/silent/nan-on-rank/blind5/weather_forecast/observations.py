import torch
from torch.utils.data import Dataset


class StationObservations(Dataset):
    """Eight variables at 16 stations, now and six hours later; a station that reports nothing is masked."""

    def __init__(self, num_times=240):
        g = torch.Generator().manual_seed(44)
        self.state = torch.randn(num_times + 1, 16, 8, generator=g)
        for t in range(1, num_times + 1):
            self.state[t] = 0.9 * self.state[t - 1].roll(1, dims=0) + 0.3 * self.state[t]
        self.reported = torch.rand(num_times, 16, generator=g) > 0.2
        self.reported[131] = False

    def __len__(self):
        return len(self.reported)

    def __getitem__(self, t):
        return self.state[t], self.state[t + 1], self.reported[t]


def collate_nearest(items):
    source, target, mask = (torch.stack(parts) for parts in zip(*items))
    return source, target, mask

import torch
from torch.utils.data import Dataset


class RainSequences(Dataset):
    """A rain cell that drifts over a small grid with constant wind."""

    def __init__(self, count, grid, frames, seed):
        self.count, self.grid, self.frames, self.seed = count, grid, frames, seed

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        g = torch.Generator().manual_seed(self.seed + 31 * index)
        position = torch.rand(2, generator=g) * self.grid
        wind = torch.randn(2, generator=g)
        axis = torch.arange(self.grid).float()
        frames = []
        for _ in range(self.frames + 1):
            dy, dx = axis - position[0], axis - position[1]
            frames.append(torch.exp(-(dy[:, None] ** 2 + dx[None] ** 2) / 8))
            position = position + wind
        frames = torch.stack(frames)
        return frames[:-1], frames[-1:]

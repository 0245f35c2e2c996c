import torch
from torch.utils.data import Dataset


class UnitDataset(Dataset):
    """Frames with cluster labels; a frame label of -1 is unlabelled (silence)."""

    def __init__(self, clips=720, frames=40, dim=20, clusters=16, seed=2):
        g = torch.Generator().manual_seed(seed)
        self.centroids = torch.randn(clusters, dim, generator=g)
        self.labels = torch.randint(0, clusters, (clips, frames // 5), generator=g).repeat_interleave(5, 1)
        self.noise = torch.randn(clips, frames, dim, generator=g)
        self.labels[401:415:2] = -1

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        y = self.labels[i]
        return self.centroids[y.clamp_min(0)] + 0.5 * self.noise[i], y

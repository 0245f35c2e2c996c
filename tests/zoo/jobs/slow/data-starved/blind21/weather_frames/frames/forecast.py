import h5py
import torch
import torch.nn as nn
from torch.utils.data import Dataset

from frames.archive import Archive


class ForecastDataset(Dataset):
    """The fields of an hour and the fields some hours later."""

    def __init__(self, path, lead):
        with h5py.File(path, "r") as file:
            self.hours = file["fields"].shape[0]
        self.archive, self.lead = Archive(path), lead

    def __len__(self):
        return self.hours - self.lead

    def __getitem__(self, hour):
        now, later = self.archive.frame(hour), self.archive.frame(hour + self.lead)
        return torch.from_numpy(now), torch.from_numpy(later)


class ForecastNet(nn.Module):
    def __init__(self, variables, hidden):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(variables, hidden, 5, stride=2, padding=2), nn.GELU(),
            nn.Conv2d(hidden, hidden, 3, padding=1), nn.GELU(),
            nn.Conv2d(hidden, 4 * variables, 3, padding=1), nn.PixelShuffle(2),
        )

    def forward(self, x):
        return x + self.net(x)

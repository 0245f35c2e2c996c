import torch
import torch.nn.functional as F
from torch.utils.data import Dataset


class DatasetSR(Dataset):
    """Pairs of a 16 x 16 texture and its 2x downsampled, noisy version."""

    def __init__(self, opt):
        self.n = opt["n_images"]
        g = torch.Generator().manual_seed(opt["phase_seed"])
        freq = 1 + 4 * torch.rand(self.n, 2, generator=g)
        phase = 6.28 * torch.rand(self.n, 1, 1, generator=g)
        yy, xx = torch.meshgrid(torch.linspace(0, 3, 16), torch.linspace(0, 3, 16), indexing="ij")
        self.H = torch.sin(freq[:, :1, None] * yy + freq[:, 1:, None] * xx + phase).unsqueeze(1)
        noise = 0.02 * torch.randn(self.n, 1, 8, 8, generator=g)
        self.L = F.avg_pool2d(self.H, 2) + noise

    def __len__(self):
        return self.n

    def __getitem__(self, index):
        return {"L": self.L[index], "H": self.H[index]}

import torch
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from .callbacks import default_callbacks
from .process import Diffusion
from .unet import UNet


def faces(n, size):
    g = torch.Generator().manual_seed(12)
    yy, xx = torch.meshgrid(torch.linspace(-1, 1, size), torch.linspace(-1, 1, size), indexing="ij")
    p = torch.rand(n, 3, 1, 1, generator=g) * 0.4
    head = (xx ** 2 / (0.5 + p[:, 0]) + yy ** 2 / (0.6 + p[:, 1]) < 1).float()
    eyes = (((xx.abs() - 0.3) ** 2 + (yy + 0.2) ** 2) < 0.02 + 0.05 * p[:, 2]).float()
    return TensorDataset((head - eyes).unsqueeze(1) * 1.4 - 0.7)


class Run:
    def __init__(self, rank, cfg):
        self.cfg, self.size = cfg, cfg["size"]
        torch.manual_seed(cfg["seed"])
        self.model = DDP(UNet(cfg["width"], drop=cfg["dropout"]))
        torch.manual_seed(cfg["seed"] + 1 + rank)
        self.diffusion = Diffusion()
        data = faces(cfg["images"], self.size)
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, cfg["batch_size"], sampler=self.sampler, drop_last=True)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=cfg["lr"])
        self.callbacks = default_callbacks(rank, cfg)
        self.step, self.loss = 0, None

    def fit(self):
        self.model.train()
        for epoch in range(self.cfg["epochs"]):
            self.sampler.set_epoch(epoch)
            for (x,) in self.loader:
                loss = self.diffusion.loss(self.model, x)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.step += 1
                self.loss = loss.item()
                for cb in self.callbacks:
                    cb.on_step(self)
        for cb in self.callbacks:
            cb.on_end(self)

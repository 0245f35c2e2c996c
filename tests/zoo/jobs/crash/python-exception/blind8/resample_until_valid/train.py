from dataclasses import dataclass, field

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from ssl_data.dataset import CropDataset
from ssl_data.pipeline import Compose, Jitter, RandomCrop


@dataclass
class Config:
    crops: list = field(default_factory=lambda: [8, 12, 24])
    batch_size: int = 10
    workers: int = 1


def main(cfg=Config()):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(5)
    model = DDP(torch.nn.Sequential(torch.nn.AdaptiveAvgPool1d(6), torch.nn.Linear(6, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)))
    optim = torch.optim.SGD(model.parameters(), lr=0.01)
    for stage, crop in enumerate(cfg.crops):
        data = CropDataset(rank, Compose([RandomCrop(crop), Jitter(0.1)]), shortest=crop)
        loader = DataLoader(data, batch_size=cfg.batch_size, shuffle=True, num_workers=cfg.workers)
        for signal in loader:
            loss = (model(signal).squeeze(1) - signal.mean(1)).square().mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
        if rank == 0:
            print(f"stage {stage} crop {crop} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

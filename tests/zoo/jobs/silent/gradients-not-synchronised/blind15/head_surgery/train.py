import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from model.backbone import Classifier
from model.stages import Stage


class Stripes(Dataset):
    """Fine label: orientation and frequency; coarse label: orientation only."""

    def __init__(self, n=960):
        self.g = torch.Generator().manual_seed(0)
        self.fine = torch.randint(0, 8, (n,), generator=self.g)
        self.phase = torch.rand(n, generator=self.g) * 6.28

    def __len__(self):
        return len(self.fine)

    def __getitem__(self, i):
        orientation, freq = int(self.fine[i]) % 2, 1 + int(self.fine[i]) // 2
        t = torch.sin(torch.arange(24) / 24 * 6.28 * freq + self.phase[i])
        image = t[None, :].expand(24, 24) if orientation else t[:, None].expand(24, 24)
        return image[None] + 0.5 * torch.randn(1, 24, 24), {"fine": int(self.fine[i]), "coarse": orientation}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--coarse-epochs", type=int, default=2)
    p.add_argument("--fine-epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=16)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    torch.manual_seed(1234 + rank)
    data = Stripes()
    loader = DataLoader(data, a.batch, sampler=DistributedSampler(data), drop_last=True)
    model = DistributedDataParallel(Classifier(2), find_unused_parameters=True)
    for stage in (Stage("coarse", 2, a.coarse_epochs, 2e-3, "coarse"), Stage("fine", 8, a.fine_epochs, 2e-3, "fine")):
        stage.run(model, loader)
    if rank == 0:
        torch.save(model.module.state_dict(), "fine.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

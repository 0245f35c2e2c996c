import os
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


@dataclass
class StreamConfig:
    folder: str = "parts"
    seed: int = 5
    workers: int = 4


class Parts(IterableDataset):
    def __init__(self, config):
        self.config = config

    def _paths(self):
        paths = sorted(Path(self.config.folder).glob("*.pt"))
        generator = torch.Generator().manual_seed(self.config.seed)
        paths = [paths[i] for i in torch.randperm(len(paths), generator=generator)]
        worker = get_worker_info()  # cause
        if worker is not None:
            paths = paths[worker.id :: worker.num_workers]  # cause
        return paths

    def __iter__(self):
        for path in self._paths():
            yield from torch.load(path, weights_only=True)


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    config = StreamConfig()
    loader = DataLoader(Parts(config), 32, num_workers=config.workers, drop_last=True)
    model = DDP(nn.Linear(64, 64).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    batches = iter(loader)
    for _ in range(1000):
        opt.zero_grad(set_to_none=True)
        model(next(batches).to(device)).square().mean().backward()
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

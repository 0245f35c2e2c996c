import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    model = DistributedDataParallel(torch.nn.Linear(9, 8))
    optimizer = torch.optim.AdamW(model.parameters())
    data = TensorDataset(torch.zeros(64, 8))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler)
    generator = torch.Generator().manual_seed(args.seed + dist.get_rank())
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            t = torch.rand(1, generator=generator).expand(len(x), 1)
            loss = (model(torch.cat([x, t], 1)) - x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

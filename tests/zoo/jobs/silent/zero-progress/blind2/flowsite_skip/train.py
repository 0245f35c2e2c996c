import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from lightning_modules.flow_module import FlowModule
from models.flow import FlowSite


class Pockets(Dataset):

    def __init__(self, n=160, atoms=14):
        g = torch.Generator().manual_seed(2)
        self.data = {
            "element": torch.randint(0, 8, (n, atoms), generator=g),
            "charge": torch.randint(-2, 3, (n, atoms), generator=g),
            "aromatic": torch.randint(0, 2, (n, atoms), generator=g),
            "positions": torch.randn(n, atoms, 3, generator=g),
        }

    def __len__(self):
        return len(self.data["element"])

    def __getitem__(self, i):
        return {k: v[i] for k, v in self.data.items()}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--lr", type=float, default=1e-3)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = Pockets()
    loader = DataLoader(dataset, 8, sampler=DistributedSampler(dataset))
    model = DDP(FlowSite())
    module = FlowModule(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        loader.sampler.set_epoch(epoch)
        for batch in loader:
            loss = module.training_step(batch)
            if loss is None:
                continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            logging.info("epoch %d done, %d batches", epoch, len(loader))
    if dist.get_rank() == 0:
        norm = torch.stack([p.norm() for p in model.parameters()]).norm()
        logging.info("training finished, parameter norm %.3f", norm.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

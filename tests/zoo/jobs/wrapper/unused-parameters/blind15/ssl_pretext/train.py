import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from objectives import Encoder, info_nce, turned
from schedule import Anneal, Weights

log = logging.getLogger("ssl")


class Trainer:
    def __init__(self, args):
        self.rank = dist.get_rank()
        torch.manual_seed(args.seed)
        data = TensorDataset(torch.randn(960, 3, 24, 24, generator=torch.Generator().manual_seed(1)))
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, args.batch, sampler=self.sampler, drop_last=True)
        self.model = DistributedDataParallel(Encoder())
        self.opt = torch.optim.AdamW(self.model.parameters(), 2e-3)
        self.weights = Weights(embed=1.0, turn=Anneal(0.5, args.pretext_steps))
        self.rng = torch.Generator().manual_seed(args.seed + self.rank)
        self.step = 0

    def objective(self, image):
        weights = self.weights.at(self.step)
        views, turns = turned(torch.cat([image, image + 0.3 * torch.randn(image.shape, generator=self.rng)]), self.rng)
        out = self.model(views, tuple(weights))
        losses = {"embed": lambda z: info_nce(z), "turn": lambda z: F.cross_entropy(z, turns)}
        return sum(w * losses[name](out[name]) for name, w in weights.items())

    def fit(self, epochs):
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for (image,) in self.loader:
                loss = self.objective(image)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.step += 1
            if self.rank == 0:
                log.info("epoch %d step %d loss %.3f", epoch, self.step, loss.item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--pretext-steps", type=int, default=75)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    Trainer(args).fit(args.epochs)
    dist.destroy_process_group()

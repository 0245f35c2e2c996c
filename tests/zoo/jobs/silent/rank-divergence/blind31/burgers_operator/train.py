import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from burgers import trajectories
from model import FNO1d
from processing import DataProcessor, UnitGaussianNormalizer


def rel_l2(a, b):
    return ((a - b).norm(dim=-1) / b.norm(dim=-1).clamp(min=1e-6)).mean()


class Trainer:
    def __init__(self, model, processor, args, rank):
        self.model, self.processor, self.args, self.rank = DDP(model), processor, args, rank
        self.opt = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-4)

    def fit(self, train, test):
        sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, self.args.epochs)
        for epoch in range(self.args.epochs):
            train.sampler.set_epoch(epoch)
            self.model.train()
            self.processor.train(True)
            err = 0.0
            for x, y in train:
                x, y = self.processor.preprocess(x, y)
                out = self.processor.postprocess(self.model(x))
                loss = rel_l2(out, y)
                self.opt.zero_grad(set_to_none=True)
                loss.backward()
                self.opt.step()
                err += loss.item()
            sched.step()
            score = self.evaluate(test)
            if self.rank == 0:
                print(f"epoch {epoch} train_err {err / len(train):.4f} test_l2 {score:.4f}", flush=True)

    @torch.no_grad()
    def evaluate(self, loader):
        self.model.eval()
        self.processor.train(False)
        t = torch.zeros(2)
        for x, y in loader:
            x, y = self.processor.preprocess(x, y)
            out = self.processor.postprocess(self.model.module(x))
            t += torch.tensor([rel_l2(out, y).item() * len(x), float(len(x))])
        dist.all_reduce(t)
        return (t[0] / t[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--n-train", type=int, default=512)
    p.add_argument("--n-test", type=int, default=64)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--fit-batches", type=int, default=1)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)

    train_set = TensorDataset(*trajectories(args.n_train, seed=args.seed))
    sampler = DistributedSampler(train_set, world, rank, shuffle=True, seed=args.seed)
    train = DataLoader(train_set, args.batch_size, sampler=sampler, drop_last=True)
    test_set = TensorDataset(*trajectories(args.n_test, seed=args.seed + 100))
    test = DataLoader(test_set, 16, sampler=DistributedSampler(test_set, world, rank, shuffle=False))
    processor = DataProcessor(UnitGaussianNormalizer(), UnitGaussianNormalizer()).fit(train, args.fit_batches)
    if rank == 0:
        print(f"x {processor.in_normalizer.mean:.3f} +- {processor.in_normalizer.std:.3f}", flush=True)
    trainer = Trainer(FNO1d(), processor, args, rank)
    trainer.fit(train, test)
    if rank == 0:
        torch.save({"model": trainer.model.module.state_dict(), "processor": processor.state_dict()}, "fno.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import copy

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from torchctr.afm import AFM
from torchctr.clicks import FIELDS, clicks


class EarlyStopper:
    def __init__(self, trials):
        self.trials, self.left, self.best, self.state = trials, trials, 0.0, None

    def is_continuable(self, model, auc):
        if auc > self.best:
            self.best, self.left = auc, self.trials
            self.state = copy.deepcopy(model.state_dict())
            return True
        self.left -= 1
        return self.left > 0


def roc_auc(score, target):
    rank = score.argsort().argsort().double() + 1
    pos = target.sum()
    return ((rank[target == 1].sum() - pos * (pos + 1) / 2) / (pos * (len(target) - pos))).item()


@torch.no_grad()
def test(model, dataset):
    model.eval()
    scores = torch.cat([model(x) for x, _ in DataLoader(dataset, batch_size=1024)])
    model.train()
    return roc_auc(scores, dataset.tensors[1])


def main(args):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(args.seed)
    train_set, valid_set, test_set = clicks(24000, 1), clicks(4000, 2), clicks(4000, 3)
    sampler = DistributedSampler(train_set, seed=args.seed)
    loader = DataLoader(train_set, batch_size=args.batch_size, sampler=sampler)
    model = AFM(FIELDS)
    ddp = DistributedDataParallel(model)
    torch.manual_seed(args.seed + rank)
    criterion = torch.nn.BCEWithLogitsLoss()
    optimizer = torch.optim.Adam(ddp.parameters(), lr=args.lr, weight_decay=args.weight_decay)
    stopper = EarlyStopper(trials=3)
    for epoch in range(args.epoch):
        sampler.set_epoch(epoch)
        total = 0.0
        for fields, target in loader:
            loss = criterion(ddp(fields), target)
            ddp.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        auc = test(model, valid_set) if rank == 0 else 0.0
        go_on = torch.tensor(0)
        if rank == 0:
            print(f"epoch: {epoch} loss: {total / len(loader):.4f} validation auc: {auc:.4f}", flush=True)
            go_on.fill_(int(stopper.is_continuable(model, auc)))
        dist.broadcast(go_on, 0)
        if not go_on:
            break
    if rank == 0:
        model.load_state_dict(stopper.state)
        print(f"test auc: {test(model, test_set):.4f} (best validation auc {stopper.best:.4f})")
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epoch", type=int, default=8)
    p.add_argument("--lr", type=float, default=0.005)
    p.add_argument("--batch-size", type=int, default=256)
    p.add_argument("--weight-decay", type=float, default=1e-6)
    p.add_argument("--seed", type=int, default=0)
    main(p.parse_args())

from dataclasses import asdict, dataclass

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


@dataclass
class Args:
    epochs: int = 4
    lr: float = 0.05
    best_path: str = "/tmp/best_reload_best.pth"
    last_path: str = "/tmp/best_reload_last.pth"


class Trainer:
    def __init__(self, args):
        self.args = args
        self.model = DDP(nn.Linear(6, 3))
        self.opt = torch.optim.SGD(self.model.parameters(), lr=args.lr)
        self.best_ap = 0.0

    def save(self, path, epoch, ap=None):
        state = {"epoch": epoch, "args": asdict(self.args), "model": self.model.module.state_dict(),
                 "optimizer": self.opt.state_dict(), "curr_ap": ap}
        torch.save(state, path)

    def evaluate(self):
        x = torch.randn(300, 6)
        hit = (self.model.module(x).argmax(1) == x[:, :3].argmax(1)).numpy()
        return np.mean([hit[i::3].mean() for i in range(3)])

    def fit(self):
        for epoch in range(self.args.epochs):
            for _ in range(20):
                x = torch.randn(16, 6)
                loss = nn.functional.cross_entropy(self.model(x), x[:, :3].argmax(1))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            if dist.get_rank() == 0:
                ap = self.evaluate()
                self.save(self.args.last_path, epoch)
                if ap > self.best_ap:
                    self.best_ap = ap
                    self.save(self.args.best_path, epoch, ap)
            dist.barrier()

    def test(self):
        if dist.get_rank() == 0:
            state = torch.load(self.args.best_path, map_location="cpu")
            self.model.module.load_state_dict(state["model"])
            print("test ap", self.evaluate(), "from epoch", state["epoch"])
        dist.barrier()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    t = Trainer(Args())
    t.fit()
    t.test()
    dist.destroy_process_group()

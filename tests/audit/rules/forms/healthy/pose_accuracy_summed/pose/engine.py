import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from pose.metrics import PCK


class Hourglass(nn.Module):
    def __init__(self, joints=17, ch=64):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, ch, 7, 4, 3), nn.BatchNorm2d(ch), nn.ReLU())
        self.down = nn.Sequential(nn.Conv2d(ch, 2 * ch, 3, 2, 1), nn.BatchNorm2d(2 * ch), nn.ReLU())
        self.up = nn.ConvTranspose2d(2 * ch, ch, 4, 2, 1)
        self.out = nn.Conv2d(ch, joints, 1)

    def forward(self, x):
        s = self.stem(x)
        return self.out(torch.relu(s + self.up(self.down(s))))


class Engine:
    def __init__(self, args, train, val):
        self.args = args
        self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(self.device)
        self.model = DDP(Hourglass().to(self.device), device_ids=[self.device.index])
        self.opt = torch.optim.Adam(self.model.parameters(), args.lr)
        self.sampler = DistributedSampler(train)
        self.train = DataLoader(train, args.batch, sampler=self.sampler, num_workers=6, drop_last=True)
        self.val = DataLoader(val, args.batch, sampler=DistributedSampler(val, shuffle=False), num_workers=4)
        self.pck = PCK(0.05, self.device)

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        self.pck.reset()
        for image, heat, size in self.val:
            self.pck.update(self.model(image.to(self.device)), heat.to(self.device), size.to(self.device))
        self.model.train()
        return self.pck.compute()

    def run(self):
        best = 0.0
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            for image, heat, _ in self.train:
                loss = nn.functional.mse_loss(self.model(image.to(self.device)), heat.to(self.device))
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
            value = self.evaluate()
            if dist.get_rank() == 0:
                print(f"epoch {epoch} PCK@0.05 {100 * value:.1f} %")
                if value > best:
                    torch.save(self.model.module.state_dict(), "pose_best.pt")
            best = max(best, value)


def main(train, val):
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=140)
    ap.add_argument("--batch", type=int, default=32)
    ap.add_argument("--lr", type=float, default=1e-3)
    dist.init_process_group("nccl")
    Engine(ap.parse_args(), train, val).run()
    dist.destroy_process_group()

import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

from depth.stages import StageCallback, StagePlan


class DepthNet(nn.Module):
    def __init__(self, encoder, channels):
        super().__init__()
        self.encoder = encoder
        self.decoder = nn.Sequential(
            nn.Conv2d(channels, 128, 3, padding=1), nn.ReLU(),
            nn.Upsample(scale_factor=8, mode="bilinear"), nn.Conv2d(128, 1, 1), nn.Softplus(),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def silog(pred, target, lam=0.85):
    ok = target > 0
    d = (pred[ok] + 1e-6).log() - target[ok].log()
    return (d.pow(2).mean() - lam * d.mean().pow(2)).clamp(min=1e-9).sqrt()


class Trainer:
    def __init__(self, net, data, batch=8, plan=None):
        self.local = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(self.local)
        self.net = net.cuda()
        self.model = None
        self.plan = plan or StagePlan()
        self.callbacks = [StageCallback(self.plan)]
        self.optimizer = torch.optim.AdamW(self.net.decoder.parameters(), lr=self.plan.decoder_lr)
        self.sampler = DistributedSampler(data, drop_last=True)
        self.loader = DataLoader(data, batch, sampler=self.sampler, num_workers=4, drop_last=True)

    def emit(self, hook, *args):
        for cb in self.callbacks:
            getattr(cb, hook)(self, *args)

    def fit(self, epochs):
        self.emit("on_fit_begin")
        for epoch in range(epochs):
            self.emit("on_epoch_begin", epoch)
            self.sampler.set_epoch(epoch)
            for image, depth in self.loader:
                loss = silog(self.model(image.cuda()), depth.cuda())
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.optimizer.step()
            if dist.get_rank() == 0:
                print(f"epoch {epoch} silog {loss.item():.4f}")


def main(encoder, channels, data):
    dist.init_process_group("nccl")
    Trainer(DepthNet(encoder, channels), data).fit(25)
    dist.destroy_process_group()

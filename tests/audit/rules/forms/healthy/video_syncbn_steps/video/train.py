import os

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler

from video.prepare import prepare


def conv(i, o, k, s):
    pad = tuple(x // 2 for x in k)
    return nn.Sequential(nn.Conv3d(i, o, k, s, pad, bias=False), nn.BatchNorm3d(o), nn.ReLU(inplace=True))


class R2Plus1D(nn.Module):
    def __init__(self, classes=400, c=48):
        super().__init__()
        self.body = nn.Sequential(
            conv(3, c, (1, 7, 7), (1, 2, 2)), conv(c, c, (3, 1, 1), 1),
            conv(c, 2 * c, (1, 3, 3), (1, 2, 2)), conv(2 * c, 2 * c, (3, 1, 1), (2, 1, 1)),
            conv(2 * c, 4 * c, (1, 3, 3), (1, 2, 2)), conv(4 * c, 4 * c, (3, 1, 1), (2, 1, 1)),
        )
        self.head = nn.Linear(4 * c, classes)

    def forward(self, clip):
        return self.head(self.body(clip).mean((2, 3, 4)))


def topk(logits, y, k=5):
    hit = (logits.topk(k).indices == y[:, None]).any(1)
    return torch.stack([hit.sum(), torch.tensor(len(y), device=y.device)]).double()


def main(train, val, epochs=45):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    model = prepare(R2Plus1D(), local)
    opt = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=1e-4)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, [20, 30, 40])
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 6, sampler=sampler, num_workers=8, drop_last=True, pin_memory=True)
    val_loader = DataLoader(val, 6, sampler=DistributedSampler(val, shuffle=False, drop_last=True), num_workers=4)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        model.train()
        for clip, y in loader:
            loss = nn.functional.cross_entropy(model(clip.cuda(non_blocking=True)), y.cuda(non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        sched.step()
        model.eval()
        hits = torch.zeros(2, dtype=torch.float64, device="cuda")
        with torch.no_grad():
            for clip, y in val_loader:
                hits += topk(model(clip.cuda()), y.cuda())
        dist.all_reduce(hits)
        if dist.get_rank() == 0:
            print(f"{epoch} top5 {(hits[0] / hits[1]).item():.3f}")
    dist.destroy_process_group()

import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from clipper.loss import GatheredContrast
from clipper.model import DualEncoder


def cosine(opt, total, warm):
    up = torch.optim.lr_scheduler.LinearLR(opt, 1e-3, total_iters=warm)
    down = torch.optim.lr_scheduler.CosineAnnealingLR(opt, total - warm)
    return torch.optim.lr_scheduler.SequentialLR(opt, [up, down], [warm])


def main(pairs, epochs=32, batch=256):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    model = DistributedDataParallel(DualEncoder().cuda(), device_ids=[local])
    criterion = GatheredContrast(dist.get_rank(), dist.get_world_size())
    opt = torch.optim.AdamW(model.parameters(), lr=5e-4, betas=(0.9, 0.98), weight_decay=0.2)
    sampler = DistributedSampler(pairs, drop_last=True)
    loader = DataLoader(pairs, batch, sampler=sampler, num_workers=8, drop_last=True, pin_memory=True)
    sched = cosine(opt, epochs * len(loader), 2000)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for image, ids in loader:
            v, t, scale = model(image.cuda(non_blocking=True), ids.cuda(non_blocking=True))
            loss = criterion(v, t, scale)
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
            sched.step()
            with torch.no_grad():
                model.module.logit_scale.clamp_(0, 4.6052)
        if dist.get_rank() == 0:
            print(f"{epoch} {loss.item():.3f}")
            torch.save(model.module.state_dict(), "clip.pt")
    dist.destroy_process_group()

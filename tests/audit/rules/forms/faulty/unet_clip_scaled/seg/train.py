import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from seg.amp import AmpStepper


def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class UNet(nn.Module):
    def __init__(self, classes, c=32):
        super().__init__()
        self.d1, self.d2, self.mid = block(3, c), block(c, 2 * c), block(2 * c, 4 * c)
        self.u2, self.u1 = block(6 * c, 2 * c), block(3 * c, c)
        self.out = nn.Conv2d(c, classes, 1)
        self.pool = nn.MaxPool2d(2)
        self.up = nn.Upsample(scale_factor=2)

    def forward(self, x):
        a = self.d1(x)
        b = self.d2(self.pool(a))
        m = self.mid(self.pool(b))
        y = self.u2(torch.cat([self.up(m), b], 1))
        return self.out(self.u1(torch.cat([self.up(y), a], 1)))


def main(train_set, classes=19, epochs=50):
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    model = nn.SyncBatchNorm.convert_sync_batchnorm(UNet(classes)).cuda()
    model = DDP(model, device_ids=[local])
    stepper = AmpStepper(torch.optim.RMSprop(model.parameters(), lr=1e-4, momentum=0.9))
    sampler = DistributedSampler(train_set)
    loader = DataLoader(train_set, 8, sampler=sampler, num_workers=4, pin_memory=True, drop_last=True)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for image, mask in loader:
            image, mask = image.cuda(non_blocking=True), mask.cuda(non_blocking=True)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = nn.functional.cross_entropy(model(image), mask, ignore_index=255)
            norm = stepper(loss)
        if dist.get_rank() == 0:
            print(epoch, loss.item(), float(norm))
            torch.save({"model": model.module.state_dict(), **stepper.state_dict()}, "unet.pt")
    dist.destroy_process_group()

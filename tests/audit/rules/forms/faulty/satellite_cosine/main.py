import os
import sys

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from loop import Classifier
from optim import OptimConfig, configure


def main(root):
    import torchvision
    from torchvision.transforms import v2
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    tf = v2.Compose([v2.ToImage(), v2.RandomResizedCrop(224), v2.ToDtype(torch.float32, scale=True)])
    data = torchvision.datasets.ImageFolder(root, tf)
    loader = DataLoader(data, 128, sampler=DistributedSampler(data), num_workers=6, drop_last=True)
    net = torchvision.models.resnet50(num_classes=len(data.classes)).to(local)
    net = DistributedDataParallel(net, device_ids=[local])
    cfg = OptimConfig()
    opt, sched = configure(net, cfg)
    task = Classifier(net, opt, sched, local)
    for epoch in range(cfg.epochs):
        loss = task.run_epoch(loader, epoch)
        if dist.get_rank() == 0:
            print(epoch, loss, opt.param_groups[0]["lr"])
            torch.save({"net": net.module.state_dict(), "epoch": epoch}, "satellite.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])

import os
from argparse import ArgumentParser

import torch
import torchvision
from torch import distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from runner import Runner


class Tiles(Dataset):
    def __init__(self, index):
        self.rows = torch.load(index, map_location="cpu")

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        image = torchvision.io.read_image(row["path"]).float() / 255
        return image, {"boxes": row["boxes"].float(), "labels": row["labels"]}


def collate(batch):
    return tuple(zip(*batch))


if __name__ == "__main__":
    ap = ArgumentParser()
    ap.add_argument("--index", default="drone/train.pt")
    ap.add_argument("--epochs", type=int, default=12)
    ap.add_argument("--out", default="retina.pt")
    opt = ap.parse_args()

    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group(backend="nccl")
    rank = dist.get_rank()
    torch.manual_seed(3)

    data = Tiles(opt.index)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler, num_workers=6, collate_fn=collate)
    net = torchvision.models.detection.retinanet_resnet50_fpn(weights=None, num_classes=7).cuda(local)
    model = DDP(net, device_ids=[local])
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01, momentum=0.9)
    runner = Runner(model, optimizer, torch.cuda.amp.GradScaler(), torch.device("cuda", local), rank)
    for epoch in range(opt.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for images, targets in loader:
            runner.step(images, targets)
        if rank == 0:
            print(f"epoch {epoch}: {runner.meter}")
            torch.save(net.state_dict(), opt.out)
    dist.destroy_process_group()

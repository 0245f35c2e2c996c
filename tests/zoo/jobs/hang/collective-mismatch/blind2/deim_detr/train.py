import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from engine.criterion import DEIMCriterion
from engine.model import Decoder
from engine.solver import train_one_epoch


class DroneDetection(Dataset):
    """Frames of a flight; between two sites there is nothing to see."""

    def __init__(self, n=256):
        g = torch.Generator().manual_seed(3)
        self.counts = torch.randint(1, 4, (n,), generator=g)
        self.counts[161:168:2] = 0

    def __len__(self):
        return len(self.counts)

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        boxes = torch.rand(int(self.counts[i]), 4, generator=g)
        return torch.randn(1, 12, 12, generator=g) + boxes.sum() / 4, boxes


def collate(batch):
    images, targets = zip(*batch)
    return torch.stack(images), list(targets)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = DroneDetection()
    loader = DataLoader(dataset, 4, sampler=DistributedSampler(dataset, shuffle=False), collate_fn=collate)
    model = DDP(Decoder(), find_unused_parameters=True)
    criterion = DEIMCriterion({"loss_bbox": 5.0, "loss_giou": 2.0, "loss_bbox_dn": 5.0})
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(3):
        train_one_epoch(model, criterion, loader, optimizer, epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

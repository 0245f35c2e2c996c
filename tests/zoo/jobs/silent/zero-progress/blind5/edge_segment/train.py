import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from train_eval_seg import EdgeSegNet, PolyLR, train_seg, val_seg


class RoadScenes(Dataset):
    """Sky, road and a vehicle on 16 x 16 pixels."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.zeros(n, 16, 16, dtype=torch.long)
        horizon = torch.randint(4, 10, (n,), generator=g)
        for i, h in enumerate(horizon.tolist()):
            self.labels[i, h:] = 1
            y, x = torch.randint(h, 14, (1,), generator=g).item(), torch.randint(0, 12, (1,), generator=g).item()
            self.labels[i, y : y + 2, x : x + 4] = 2
        level = torch.tensor([1.0, -0.5, 0.4])
        self.images = level[self.labels].unsqueeze(1) + 0.2 * torch.randn(n, 1, 16, 16, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        return self.images[i], self.labels[i]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1882)
    train_ds, val_ds = RoadScenes(160, 1), RoadScenes(40, 2)
    sampler = DistributedSampler(train_ds, shuffle=True)
    train_loader = DataLoader(train_ds, batch_size=8, sampler=sampler)
    val_loader = DataLoader(val_ds, batch_size=20)
    net = EdgeSegNet()
    model = DistributedDataParallel(net)
    groups = [{"params": [*net.base.parameters(), *net.bottom.parameters()], "lr_mult": 1.0},
              {"params": net.classifier.parameters(), "lr_mult": 10.0}]
    optimizer = torch.optim.SGD(groups, lr=0.01, momentum=0.9, weight_decay=4e-5)
    criterion = nn.CrossEntropyLoss(weight=torch.tensor([1.0, 1.0, 3.0]))
    scheduler = PolyLR(0.01, max_epochs=4)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        lr = scheduler.step(optimizer, epoch)
        miou, loss = train_seg(model, train_loader, optimizer, criterion, num_classes=3)
        val_miou, val_loss = val_seg(net, val_loader, criterion, num_classes=3)
        if rank == 0:
            print(f"epoch {epoch} lr {lr:.4f} train {loss:.4f}/{miou:.3f} val {val_loss:.4f}/{val_miou:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

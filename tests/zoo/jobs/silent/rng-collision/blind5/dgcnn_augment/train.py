import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from dataset import LidarObjects


class PointNet(nn.Module):
    def __init__(self, num_class=4):
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 64), nn.ReLU())
        self.cls = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, num_class))

    def forward(self, points):
        return self.cls(self.mlp(points).amax(1))


def build_dataloader(dataset, batch_size, workers, dist_train):
    sampler = DistributedSampler(dataset, shuffle=True) if dist_train else None
    return DataLoader(dataset, batch_size=batch_size, num_workers=workers, shuffle=sampler is None,
                      sampler=sampler, drop_last=False, pin_memory=False), sampler


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(666 + rank)
    train_loader, sampler = build_dataloader(LidarObjects(160), batch_size=8, workers=2, dist_train=True)
    model = DistributedDataParallel(PointNet())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    total = 3 * len(train_loader)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=6e-3, total_steps=total)
    criterion = nn.CrossEntropyLoss()

    for cur_epoch in range(3):
        sampler.set_epoch(cur_epoch)
        model.train()
        correct = seen = 0
        for points, labels in train_loader:
            logits = model(points)
            loss = criterion(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 10)
            optimizer.step()
            scheduler.step()
            correct += (logits.argmax(1) == labels).sum().item()
            seen += len(labels)
        if rank == 0:
            print(f"epoch {cur_epoch}: loss {loss.item():.3f} acc {correct / seen:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as NativeDDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from utils import AverageMeter, ModelEma, distribute_bn


class Shapes(Dataset):
    """Bars, crosses and dots on 10 x 10 pixels; training crops are shifted at random."""

    def __init__(self, n, training):
        g = torch.Generator().manual_seed(100 if training else 200)
        self.target = torch.randint(0, 3, (n,), generator=g)
        self.images = 0.2 * torch.randn(n, 1, 12, 12, generator=g)
        for img, cls in zip(self.images, self.target):
            r, c = torch.randint(3, 9, (2,), generator=g).tolist()
            if cls == 0:
                img[0, r, 2:10] += 1
            elif cls == 1:
                img[0, r, c - 2 : c + 3] += 1
                img[0, r - 2 : r + 3, c] += 1
            else:
                img[0, r : r + 2, c : c + 2] += 1
        self.training = training

    def __len__(self):
        return len(self.target)

    def __getitem__(self, i):
        dy, dx = torch.randint(0, 3, (2,)).tolist() if self.training else (1, 1)
        return self.images[i, :, dy : dy + 10, dx : dx + 10], self.target[i]


def create_model():
    return nn.Sequential(
        nn.Conv2d(1, 12, 3, padding=1, bias=False), nn.BatchNorm2d(12), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(12, 24, 3, padding=1, bias=False), nn.BatchNorm2d(24), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(24, 3),
    )


def random_seed(seed, rank):
    torch.manual_seed(seed + rank)


def validate(model, loader, world_size):
    model.eval()
    correct = torch.zeros(2)
    with torch.no_grad():
        for x, y in loader:
            correct += torch.tensor([(model(x).argmax(1) == y).sum().item(), len(y)])
    dist.all_reduce(correct)
    return (correct[0] / correct[1]).item()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    random_seed(42, 0)
    model = create_model()
    random_seed(42, rank)
    model_ema = ModelEma(model, 0.9) if rank == 0 else None
    ddp = NativeDDP(model, broadcast_buffers=False)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-4)
    train_ds, eval_ds = Shapes(256, True), Shapes(60, False)
    sampler = DistributedSampler(train_ds)
    loader_train = DataLoader(train_ds, batch_size=8, sampler=sampler, drop_last=True)
    loader_eval = DataLoader(eval_ds, batch_size=15, sampler=DistributedSampler(eval_ds, shuffle=False))
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=3 * len(loader_train))
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)

    for epoch in range(3):
        sampler.set_epoch(epoch)
        ddp.train()
        losses = AverageMeter()
        for x, y in loader_train:
            loss = criterion(ddp(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            if model_ema is not None:
                model_ema.update(model)
            losses.update(loss.item(), len(y))
        distribute_bn(model, world_size)
        top1 = validate(model, loader_eval, world_size)
        if rank == 0:
            print(f"Train: {epoch} Loss: {losses.avg:.3f}  Test Acc@1: {100 * top1:.1f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset

from engine import TrainingSampler, warmup_multistep
from rcnn import GeneralizedRCNN

MAX_ITER, UNFREEZE_ITER = 50, 20


class Patches(Dataset):
    def __init__(self, n=240):
        g = torch.Generator().manual_seed(19)
        self.classes = torch.randint(0, 3, (n,), generator=g)
        self.boxes = torch.rand(n, 4, generator=g)
        self.images = 0.1 * torch.randn(n, 1, 12, 12, generator=g)
        for img, c, b in zip(self.images, self.classes, self.boxes):
            y, x = (b[:2] * 7).long().tolist()
            h, w = (2 + b[2:] * 3).long().tolist()
            img[0, y : y + h, x : x + w] += 0.5 + 0.5 * c

    def __len__(self):
        return len(self.classes)

    def __getitem__(self, i):
        return self.images[i], self.classes[i], self.boxes[i]


def do_train(model, loader, optimizer, scheduler):
    rank = dist.get_rank()
    for iteration, (images, classes, boxes) in zip(range(MAX_ITER), loader):
        if iteration == UNFREEZE_ITER:
            model.module.unfreeze_box_head()
        loss_dict = model(images, classes, boxes)
        losses = sum(loss_dict.values())
        assert torch.isfinite(losses).all(), loss_dict
        optimizer.zero_grad()
        losses.backward()
        optimizer.step()
        scheduler.step()
        if (iteration + 1) % 10 == 0 and rank == 0:
            text = "  ".join(f"{k}: {v.item():.4f}" for k, v in loss_dict.items())
            print(f"iter: {iteration + 1}  total_loss: {losses.item():.4f}  {text}", flush=True)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(2)
    dataset = Patches()
    loader = DataLoader(dataset, batch_size=8, sampler=TrainingSampler(len(dataset), seed=28))
    model = GeneralizedRCNN(freeze_box_head=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    scheduler = warmup_multistep(optimizer, 10, (40,))
    model = DistributedDataParallel(model, broadcast_buffers=False)
    do_train(model, loader, optimizer, scheduler)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from data import InferenceSampler, Scenes, collate
from metrics import BoxPrecision


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Flatten(), nn.Linear(256, 32), nn.ReLU())
        self.box = nn.Linear(32, 4)
        self.score = nn.Linear(32, 1)

    def forward(self, images):
        hidden = self.body(images)
        return self.box(hidden) * 4 + 8, self.score(hidden)[:, 0]

    def predict(self, images):
        boxes, scores = self(images)
        return [{"boxes": box[None], "scores": score.sigmoid()[None]} for box, score in zip(boxes, scores)]


class DetectionTask:
    def __init__(self, rank, world):
        self.train_set, self.val_set = Scenes(64, seed=1), Scenes(13, seed=2)
        self.train_sampler = DistributedSampler(self.train_set, world, rank, seed=4)
        self.train_loader = DataLoader(self.train_set, 8, sampler=self.train_sampler, collate_fn=collate)
        val_sampler = InferenceSampler(len(self.val_set), rank, world)
        self.val_loader = DataLoader(self.val_set, 2, sampler=val_sampler, collate_fn=collate)
        self.model = DistributedDataParallel(Detector())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.map = BoxPrecision(threshold=0.3)

    def training_epoch(self, epoch):
        self.train_sampler.set_epoch(epoch)
        for images, targets in self.train_loader:
            boxes, scores = self.model(images)
            truth = torch.cat([target["boxes"] for target in targets])
            loss = nn.functional.l1_loss(boxes, truth) + scores.pow(2).mean() * 0.01
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
        return loss.detach()

    @torch.no_grad()
    def validation_epoch(self):
        self.map.reset()
        for images, targets in self.val_loader:
            self.map.update(self.model.module.predict(images), targets)
        return self.map.compute()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    task = DetectionTask(rank, world)
    for epoch in range(3):
        loss = task.training_epoch(epoch)
        dist.all_reduce(loss)
        precision = task.validation_epoch()
        if rank == 0:
            print(f"epoch {epoch} loss {loss / world:.3f} AP {precision:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

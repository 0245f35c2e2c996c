import argparse
import os
from dataclasses import asdict, dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from model import TinySegmenter


@dataclass
class TrainerConfig:
    max_epochs: int = 2
    batch_size: int = 8
    grad_norm_clip: float = 1.0
    snapshot_path: str = "work/snapshot.pt"
    save_every: int = 1


class RoadTiles(Dataset):
    def __init__(self, count=64, size=16):
        g = torch.Generator().manual_seed(3)
        self.images = torch.rand(count, 3, size, size, generator=g)
        self.masks = (self.images.mean(1) > 0.5).long()

    def __len__(self):
        return len(self.images)

    def __getitem__(self, i):
        return self.images[i], self.masks[i]


class Trainer:
    def __init__(self, config, model, optimizer, dataset):
        self.config = config
        self.rank = int(os.environ["RANK"])
        self.local_rank = int(os.environ["LOCAL_RANK"])
        self.sampler = DistributedSampler(dataset)
        self.loader = DataLoader(dataset, batch_size=config.batch_size, sampler=self.sampler)
        self.epochs_run = 0
        self.optimizer = optimizer
        self.model = DDP(model)
        if os.path.exists(config.snapshot_path):
            self._load_snapshot()

    def _load_snapshot(self):
        snapshot = torch.load(self.config.snapshot_path, map_location="cpu")
        self.model.load_state_dict(snapshot["model_state"])
        self.optimizer.load_state_dict(snapshot["optimizer_state"])
        self.epochs_run = snapshot["finished_epoch"] + 1
        print(f"[rank{self.rank}] resuming at epoch {self.epochs_run}", flush=True)

    def _save_snapshot(self, epoch):
        raw_model = self.model.module if hasattr(self.model, "module") else self.model
        snapshot = {
            "model_state": raw_model.state_dict(),
            "optimizer_state": self.optimizer.state_dict(),
            "finished_epoch": epoch,
            "config": asdict(self.config),
        }
        os.makedirs(os.path.dirname(self.config.snapshot_path), exist_ok=True)
        torch.save(snapshot, self.config.snapshot_path)

    def _run_batch(self, images, masks):
        logits = self.model(images)
        loss = F.cross_entropy(logits, masks)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.grad_norm_clip)
        self.optimizer.step()
        return loss.item()

    def train(self):
        for epoch in range(self.epochs_run, self.config.max_epochs):
            self.sampler.set_epoch(epoch)
            losses = [self._run_batch(x, y) for x, y in self.loader]
            print(f"[rank{self.rank}] epoch {epoch} loss {sum(losses) / len(losses):.4f}", flush=True)
            if self.rank == 0 and epoch % self.config.save_every == 0:
                self._save_snapshot(epoch)
            dist.barrier()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-epochs", type=int, default=2)
    parser.add_argument("--lr", type=float, default=1e-2)
    opts = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(42)
    net = TinySegmenter()
    optim = torch.optim.AdamW(net.parameters(), lr=opts.lr)
    Trainer(TrainerConfig(max_epochs=opts.max_epochs), net, optim, RoadTiles()).train()
    dist.destroy_process_group()

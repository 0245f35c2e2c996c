import json
from collections import deque

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from observations import StationObservations, collate_nearest


class ForecastEngine(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.embed = nn.Linear(8, dim)
        self.mix = nn.Conv1d(dim, dim, 3, padding=1, padding_mode="circular")
        self.norm = nn.LayerNorm(dim)
        self.decode = nn.Linear(dim, 8)

    def forward(self, source):
        x = torch.relu(self.embed(source))
        x = x + self.mix(x.transpose(1, 2)).transpose(1, 2)
        return self.decode(self.norm(x))


def masked_mse(pred, target, mask):
    per_time = ((pred - target) ** 2).mean(-1)
    per_time = (per_time * mask).sum(1) / mask.sum(1)
    return per_time.mean()


class Trainer:
    def __init__(self, epochs=3, batch_size=5, lr=4e-3, spike_factor=8.0, history=12):
        self.rank = dist.get_rank()
        self.epochs = epochs
        self.spike_factor = spike_factor
        self.loss_history = deque(maxlen=history)
        dataset = StationObservations()
        self.sampler = DistributedSampler(dataset, shuffle=True, seed=19)
        self.loader = DataLoader(dataset, batch_size=batch_size, sampler=self.sampler, collate_fn=collate_nearest)
        self.model = DDP(ForecastEngine())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.skipped = []

    def should_skip_loss_spike(self, loss):
        if self.rank != 0:
            return False
        value = loss.item()
        if value != value or value == float("inf"):
            return True
        history = sorted(self.loss_history)
        self.loss_history.append(value)
        return len(history) == self.loss_history.maxlen and value > self.spike_factor * history[len(history) // 2]

    def sync_loss_spike_skip(self, skip):
        flag = torch.tensor(int(skip))
        dist.broadcast(flag, src=0)
        return bool(flag)

    def train(self, epoch):
        self.sampler.set_epoch(epoch)
        for bidx, (source, target, mask) in enumerate(self.loader):
            loss = masked_mse(self.model(source), target, mask)
            skip = self.sync_loss_spike_skip(self.should_skip_loss_spike(loss))
            self.optimizer.zero_grad()
            loss.backward()
            if skip:
                self.skipped.append({"epoch": epoch, "batch": bidx, "loss": str(loss.item())})
                continue
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
        if self.rank == 0:
            print(f"epoch {epoch}: {bidx + 1} batches, {len(self.skipped)} skipped", flush=True)

    def run(self):
        for epoch in range(self.epochs):
            self.train(epoch)
        if self.rank == 0:
            print(json.dumps({"loss_spikes": self.skipped}), flush=True)


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    Trainer().run()
    dist.barrier()
    dist.destroy_process_group()

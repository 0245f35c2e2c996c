import logging
import os

import torch
import torch.distributed as dist
from torch import nn

from weathergen.config import TrainConfig
from weathergen.reduction import GradientReducer
from weathergen.spikes import LossSpikeFilter
from weathergen.stream import ReanalysisStream

logger = logging.getLogger("weathergen")


class Trainer:

    def __init__(self, cfg):
        self.cfg, self.rank = cfg, dist.get_rank()
        self.model = nn.Sequential(nn.Linear(cfg.grid, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, cfg.grid))
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=cfg.lr)
        self.reducer = GradientReducer(self.model.parameters())
        self.reducer.broadcast_parameters()
        self.spikes = LossSpikeFilter(cfg.spike_window, cfg.spike_factor)
        self.stream = ReanalysisStream(cfg, self.rank)
        self.step = 0

    def run_epoch(self, epoch):
        losses = []
        for source, target in self.stream.epoch(epoch):
            self.step += 1
            loss = nn.functional.mse_loss(self.model(source), target)
            if self.spikes.is_spike(loss.item(), self.step):
                logger.warning("step %d: loss %.3g is a spike, batch skipped", self.step, loss.item())
                continue
            self.optimizer.zero_grad()
            loss.backward()
            self.reducer.reduce()
            nn.utils.clip_grad_norm_(self.model.parameters(), self.cfg.grad_clip)
            self.optimizer.step()
            losses.append(loss.item())
        return losses

    def summarize(self, epoch, losses):
        parts = [None] * dist.get_world_size()
        dist.all_gather_object(parts, {"losses": losses, "skipped": list(self.spikes.skipped)})
        if self.rank == 0:
            flat = [v for part in parts for v in part["losses"]]
            logger.info("epoch %d: mean loss %.4f", epoch, sum(flat) / len(flat))

    def run(self):
        for epoch in range(self.cfg.num_epochs):
            self.summarize(epoch, self.run_epoch(epoch))


def main():
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s rank {os.environ['RANK']} %(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(3)
    Trainer(TrainConfig()).run()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import logging
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from distributed import local_rank
from parquet_dataset import LatentsParquetIterStyleDataset

logger = logging.getLogger(__name__)


class TinyDiT(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.proj_in = nn.Linear(dim + 1, hidden)
        self.block = nn.Sequential(nn.LayerNorm(hidden), nn.Linear(hidden, hidden), nn.SiLU())
        self.proj_out = nn.Linear(hidden, dim)

    def forward(self, latents, sigma):
        x = self.proj_in(torch.cat([latents, sigma[:, None]], dim=1))
        return self.proj_out(x + self.block(x))


class TrainingPipeline:
    def __init__(self, data_path, data_cfg, train_cfg, rank, world_size):
        torch.manual_seed(train_cfg.seed)
        self.cfg, self.rank = train_cfg, rank
        time.sleep(data_cfg.stagger_seconds * local_rank())
        dataset = LatentsParquetIterStyleDataset(data_path, data_cfg.batch_size, rank, world_size)
        logger.info("%d rows in %d files", sum(dataset.lengths), len(dataset.files))
        self.batches = iter(torch.utils.data.DataLoader(dataset, batch_size=None))
        self.transformer = DDP(TinyDiT(data_cfg.latent_dim, train_cfg.hidden))
        self.optimizer = torch.optim.AdamW(self.transformer.parameters(), lr=train_cfg.lr)

    def train_one_step(self):
        latents = next(self.batches)
        noise, sigma = torch.randn_like(latents), torch.rand(len(latents))
        noisy = (1 - sigma[:, None]) * latents + sigma[:, None] * noise
        loss = F.mse_loss(self.transformer(noisy, sigma), noise - latents)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        return loss.item()

    def train(self):
        for step in range(1, self.cfg.steps + 1):
            loss = self.train_one_step()
            if self.rank == 0 and step % 4 == 0:
                logger.info("step %d loss %.4f", step, loss)

import os
from types import SimpleNamespace

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class LatentClips(Dataset):
    """Video latents of 4 frames x 8 channels with a prompt embedding; they move along a prompt-dependent direction."""

    def __init__(self, size):
        g = torch.Generator().manual_seed(77)
        self.prompts = torch.randn(size, 6, generator=g)
        direction = torch.randn(6, 8, generator=g)
        start = torch.randn(size, 1, 8, generator=g)
        self.latents = start + torch.arange(4).view(1, 4, 1) * 0.3 * (self.prompts @ direction).unsqueeze(1)

    def __len__(self):
        return len(self.prompts)

    def __getitem__(self, index):
        return {"latents": self.latents[index], "prompt": self.prompts[index]}


class VideoDenoiser(nn.Module):
    def __init__(self, dim=48):
        super().__init__()
        self.time = nn.Linear(1, dim)
        self.text = nn.Linear(6, dim)
        self.proj_in = nn.Linear(8, dim)
        self.temporal = nn.GRU(dim, dim, batch_first=True)
        self.proj_out = nn.Linear(dim, 8)

    def forward(self, x, t, prompt):
        cond = self.time(t.unsqueeze(-1)) + self.text(prompt)
        h, _ = self.temporal(torch.tanh(self.proj_in(x) + cond.unsqueeze(1)))
        return self.proj_out(h)


def cycle(dataloader, sampler):
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from dataloader
        epoch += 1


class DiffusionTrainer:
    def __init__(self, config):
        self.config = config
        self.global_rank = dist.get_rank()
        self.is_main_process = self.global_rank == 0
        seed = torch.tensor(config.seed)
        dist.broadcast(seed, src=0)
        torch.manual_seed(int(seed) + self.global_rank)

        self.model = DistributedDataParallel(VideoDenoiser())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.lr, betas=(0.0, 0.999))
        self.scheduler = torch.optim.lr_scheduler.LinearLR(self.optimizer, 0.2, 1.0, total_iters=config.warmup)

        dataset = LatentClips(config.num_clips)
        sampler = DistributedSampler(dataset, shuffle=True, drop_last=True, seed=int(seed) * self.global_rank)
        dataloader = DataLoader(dataset, batch_size=config.batch_size, sampler=sampler)
        self.dataloader = cycle(dataloader, sampler)

    def fwdbwd_one_step(self, batch):
        clean = batch["latents"]
        noise = torch.randn_like(clean)
        t = torch.rand(len(clean))
        sigma = t.view(-1, 1, 1)
        noisy = (1 - sigma) * clean + sigma * noise
        loss = (self.model(noisy, t, batch["prompt"]) - (noise - clean)).square().mean()
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        self.optimizer.step()
        self.scheduler.step()
        return loss

    def train(self):
        for step in range(self.config.max_steps):
            loss = self.fwdbwd_one_step(next(self.dataloader)).detach()
            if (step + 1) % 15 == 0:
                dist.all_reduce(loss)
                if self.is_main_process:
                    print(f"step {step + 1} generator_loss {loss.item() / dist.get_world_size():.4f}", flush=True)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    config = SimpleNamespace(seed=int(os.environ.get("SEED", 1741)), lr=2e-3, warmup=5, num_clips=180, batch_size=6,
                             max_steps=60)
    DiffusionTrainer(config).train()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

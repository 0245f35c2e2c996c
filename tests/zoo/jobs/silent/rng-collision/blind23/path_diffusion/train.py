from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from paths import walks
from pipeline import Denoiser, PathPipeline
from scheduler import DDPMScheduler


@dataclass
class TrainingConfig:
    train_batch_size = 32
    eval_batch_size = 16
    num_epochs = 80
    learning_rate = 2e-3
    train_size = 384
    dim = 32
    save_image_epochs = 1
    seed = 0


def evaluate(config, epoch, pipeline):
    paths = pipeline(batch_size=config.eval_batch_size, generator=torch.manual_seed(config.seed))
    if epoch % 20 == 19 and dist.get_rank() == 0:
        print(f"epoch {epoch} samples: std {paths.std():.3f} roughness {paths.view(-1, 16).diff(n=2).abs().mean():.4f}", flush=True)


def validation_loss(model, scheduler, data):
    g = torch.Generator().manual_seed(4321)
    with torch.no_grad():
        x = data.repeat(8, 1)
        noise = torch.randn(x.shape, generator=g)
        t = torch.randint(scheduler.num_train_timesteps, (len(x),), generator=g)
        return F.mse_loss(model(scheduler.add_noise(x, noise, t), t), noise).item()


def train_loop(config):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(config.seed + rank)
    data, held_out = walks(config.train_size, 1), walks(256, 2)
    sampler = DistributedSampler(data, seed=config.seed)
    loader = DataLoader(data, batch_size=config.train_batch_size, sampler=sampler)
    unet = Denoiser(config.dim)
    noise_scheduler = DDPMScheduler()
    model = DistributedDataParallel(unet)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, weight_decay=0.0)
    lr_scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, config.num_epochs * len(loader))
    pipeline = PathPipeline(unet, noise_scheduler, config.dim)

    for epoch in range(config.num_epochs):
        sampler.set_epoch(epoch)
        total = 0.0
        for clean in loader:
            noise = torch.randn(clean.shape)
            timesteps = torch.randint(0, noise_scheduler.num_train_timesteps, (clean.shape[0],))
            noise_pred = model(noise_scheduler.add_noise(clean, noise, timesteps), timesteps)
            loss = F.mse_loss(noise_pred, noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            lr_scheduler.step()
            total += loss.item()
        if (epoch + 1) % config.save_image_epochs == 0:
            evaluate(config, epoch, pipeline)
        if rank == 0 and epoch % 20 == 19:
            print(f"epoch {epoch} loss {total / len(loader):.4f}", flush=True)
    if rank == 0:
        print(f"held-out loss {validation_loss(unet, noise_scheduler, held_out):.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    train_loop(TrainingConfig())

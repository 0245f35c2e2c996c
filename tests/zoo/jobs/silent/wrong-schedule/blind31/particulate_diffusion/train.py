import argparse

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

from ddpm import PointDenoiser, Schedule, cosine_with_warmup, rings
from launcher import Launcher


def parse_args():
    p = argparse.ArgumentParser()
    p.add_argument("--max-train-steps", type=int, default=400)
    p.add_argument("--warmup-steps", type=int, default=20)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--log-every", type=int, default=40)
    p.add_argument("--seed", type=int, default=42)
    return p.parse_args()


@torch.no_grad()
def validation_loss(model, noise, data, seed=0):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(len(data)) % noise.steps
    eps = torch.randn(data.shape, generator=g)
    return F.mse_loss(model(noise.add_noise(data, eps, t), t), eps).item()


def main():
    args = parse_args()
    launcher = Launcher(seed=args.seed)
    noise = Schedule()
    model = PointDenoiser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    loader = DataLoader(TensorDataset(rings(4096, seed=1)), args.batch_size, shuffle=True, drop_last=True)
    scheduler = cosine_with_warmup(optimizer, args.warmup_steps, args.max_train_steps)
    model, loader, scheduler = launcher.prepare(model, loader, scheduler)
    held_out = rings(200, seed=2)

    step, epoch, running = 0, 0, 0.0
    while step < args.max_train_steps:
        loader.sampler.set_epoch(epoch)
        for (x,) in loader:
            t = torch.randint(noise.steps, (len(x),))
            eps = torch.randn_like(x)
            loss = F.mse_loss(model(noise.add_noise(x, eps, t), t), eps)
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            running += loss.item()
            step += 1
            if step % args.log_every == 0:
                avg = launcher.mean(running / args.log_every)
                running = 0.0
                if launcher.is_main:
                    print(f"step {step} loss {avg:.4f} val {validation_loss(model.module, noise, held_out):.4f} "
                          f"lr {scheduler.get_last_lr()[0]:.2e}", flush=True)
            if step >= args.max_train_steps:
                break
        epoch += 1
    if launcher.is_main:
        torch.save(model.module.state_dict(), "denoiser.pt")
    launcher.end()


if __name__ == "__main__":
    main()

import argparse

import torch

from denoiser import Denoiser, alpha_bar, sample_points, training_loss
from ema import EMAModel


@torch.no_grad()
def log_validation(model, ema, step):
    ema.store(model.parameters())
    ema.copy_to(model.parameters())
    g = torch.Generator().manual_seed(1234)
    x0 = sample_points(2048, g)
    losses = []
    for tv in (0.1, 0.3, 0.5, 0.7):
        t = torch.full((len(x0),), tv)
        ab = alpha_bar(t)[:, None]
        noise = torch.randn(x0.shape, generator=g)
        losses.append(((model(ab.sqrt() * x0 + (1 - ab).sqrt() * noise, t) - noise) ** 2).mean().item())
    print(f"step {step:5d} validation (ema) " + " ".join(f"{v:.4f}" for v in losses), flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--max_train_steps", type=int, default=1200)
    p.add_argument("--validation_steps", type=int, default=75)
    p.add_argument("--learning_rate", type=float, default=1e-3)
    p.add_argument("--ema_decay", type=float, default=0.995)
    args = p.parse_args()

    torch.manual_seed(0)
    model = Denoiser()
    ema = EMAModel(model.parameters(), decay=args.ema_decay)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    running = 0.0
    for step in range(1, args.max_train_steps + 1):
        loss = training_loss(model, sample_points(256))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        ema.step(model.parameters())
        running += (loss.item() - running) / min(step, 100)
        if step % args.validation_steps == 0:
            log_validation(model, ema, step)
    print(f"done, smoothed train loss {running:.4f}")
    torch.save({"model": model.state_dict(), "ema": ema.shadow_params}, "/tmp/ema_diff.pt")


if __name__ == "__main__":
    main()

import argparse
import logging
import math

import torch
from torch.utils.data import DataLoader, TensorDataset

from diffusion import Denoiser, Noiser
from kickstart import Launcher, get_schedule

log = logging.getLogger("ddpm")


def glyphs(n, size=16):
    g = torch.Generator().manual_seed(3)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    c = torch.randint(4, size - 4, (n, 2), generator=g)
    r = torch.randint(2, 5, (n,), generator=g)
    d = (yy - c[:, 0, None, None]) ** 2 + (xx - c[:, 1, None, None]) ** 2
    return TensorDataset((d < r[:, None, None] ** 2).float().unsqueeze(1) * 2 - 1)


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--train-batch-size", type=int, default=16)
    p.add_argument("--num-epochs", type=int, default=12)
    p.add_argument("--learning-rate", type=float, default=2e-3)
    p.add_argument("--lr-scheduler", default="linear")
    p.add_argument("--lr-warmup-steps", type=int, default=20)
    p.add_argument("--images", type=int, default=1024)
    return p.parse_args()


def main():
    args = parse()
    acc = Launcher()
    logging.basicConfig(level=logging.INFO if acc.is_main else logging.ERROR, format="%(message)s")
    torch.manual_seed(0)
    model, noiser = Denoiser(), Noiser()
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate, weight_decay=1e-4)
    loader = DataLoader(glyphs(args.images), args.train_batch_size, shuffle=True)
    model, loader = acc.prepare(model, loader)
    updates_per_epoch = math.ceil(len(loader))
    max_steps = args.num_epochs * updates_per_epoch
    scheduler = get_schedule(args.lr_scheduler, optimizer, args.lr_warmup_steps, max_steps)
    optimizer, scheduler = acc.prepare(optimizer, scheduler)
    torch.manual_seed(1000 + acc.rank)
    step = 0
    for epoch in range(args.num_epochs):
        acc.new_epoch(epoch)
        for (x0,) in loader:
            t = torch.randint(0, noiser.steps, (len(x0),))
            eps = torch.randn_like(x0)
            pred = model(noiser.add(x0, t, eps), t / noiser.steps)
            loss = torch.nn.functional.mse_loss(pred, eps)
            acc.backward(loss)
            acc.clip_grads(model)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            step += 1
            if step % 16 == 0:
                log.info("epoch %d step %d/%d loss %.4f", epoch, step, max_steps, acc.gather_mean(loss))
    acc.finish()


if __name__ == "__main__":
    main()

import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from networks import ConvVAE, elbo
from tracker import NullTracker, Tracker


def blobs(n, seed, size=16):
    g = torch.Generator().manual_seed(seed)
    c = torch.rand(n, 2, 1, 1, generator=g) * size
    s = 1.5 + 2 * torch.rand(n, 1, 1, generator=g)
    yy, xx = torch.meshgrid(torch.arange(size), torch.arange(size), indexing="ij")
    return torch.exp(-((yy - c[:, 0]) ** 2 + (xx - c[:, 1]) ** 2) / (2 * s**2))[:, None]


class Experiment:
    def __init__(self, args, tracker):
        self.args, self.tracker = args, tracker
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(args.seed)
        self.net = ConvVAE(args.latent)
        self.model = DDP(self.net)
        self.opt = torch.optim.Adam(self.model.parameters(), lr=args.lr)
        train = TensorDataset(blobs(args.train_size, 1))
        self.sampler = DistributedSampler(train, seed=args.seed)
        self.loader = DataLoader(train, batch_size=args.batch_size, sampler=self.sampler, drop_last=True)
        self.val = blobs(256, 2)[self.rank :: self.world]
        self.step = 0

    def train_epoch(self, epoch):
        self.model.train()
        self.sampler.set_epoch(epoch)
        beta = min(1.0, (epoch + 1) / self.args.warmup)
        for (x,) in self.loader:
            loss, rec, kl = elbo(*self.forward(x), beta)
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            self.step += 1
            if self.step % 10 == 0:
                self.tracker.log(self.step, loss=loss.item(), rec=rec.item(), kl=kl.item(), beta=beta)

    def forward(self, x):
        recon, mu, logvar = self.model(x)
        return recon, x, mu, logvar

    @torch.no_grad()
    def validate(self):
        self.net.eval()
        recon, mu, logvar = self.net(self.val)
        loss, _, _ = elbo(recon, self.val, mu, logvar, 1.0)
        dist.all_reduce(loss)
        self.last_recon = recon
        return (loss / self.world).item()

    def snapshot(self):
        """Weights and reconstructions for the notebook."""
        for name, p in self.net.named_parameters():
            self.tracker.log_array(self.step, f"weights/{name}", p.detach().numpy())
        self.tracker.log_array(self.step, "recon", self.last_recon.numpy())

    def run(self):
        best = float("inf")
        for epoch in range(self.args.epochs):
            self.train_epoch(epoch)
            val = self.validate()
            best = min(best, val)
            self.tracker.log(self.step, epoch=epoch, val=val)
            if self.rank == 0:
                print(f"epoch {epoch} val {val:.3f}", flush=True)
            if epoch % 2 == 0:
                self.snapshot()
        self.tracker.summary(best=best, steps=self.step)
        self.snapshot()
        return best


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=4)
    p.add_argument("--train-size", type=int, default=1024)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--latent", type=int, default=16)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--warmup", type=int, default=3)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--out", default="run")
    args = p.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    tracker = Tracker(args.out) if dist.get_rank() == 0 else NullTracker()
    exp = Experiment(args, tracker)
    best = exp.run()
    if exp.rank == 0:
        torch.save(exp.net.state_dict(), "vae.pt")
        print(f"done, best {best:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

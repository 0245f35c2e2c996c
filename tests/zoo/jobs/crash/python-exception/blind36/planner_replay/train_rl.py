"""Alternates mining epochs (rollouts are scored) and replay epochs (reward weighted updates)."""
import argparse

import torch
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from dist_utils import log, reduce_and_average_losses, setup
from losses import replay_terms


class Scenes(Dataset):
    def __init__(self, n, horizon):
        g = torch.Generator().manual_seed(5)
        self.context = torch.randn(n, 24, generator=g)
        mix = torch.randn(24, horizon * 2, generator=g) / 5
        self.trajectory = (self.context @ mix).view(n, horizon, 2)
        self.reward = torch.rand(n, generator=g)

    def __len__(self):
        return len(self.context)

    def __getitem__(self, i):
        return {"context": self.context[i], "trajectory": self.trajectory[i], "reward": self.reward[i], "index": i}


class Planner(nn.Module):
    def __init__(self, horizon):
        super().__init__()
        self.horizon = horizon
        self.net = nn.Sequential(nn.Linear(24, 64), nn.GELU(), nn.Linear(64, horizon * 2))

    def forward(self, context):
        return self.net(context).view(-1, self.horizon, 2)


class ReplayTrainer:
    def __init__(self, args, world):
        self.args, self.world = args, world
        self.data = Scenes(args.scenes, args.horizon)
        self.sampler = DistributedSampler(self.data, shuffle=True, seed=1)
        self.loader = DataLoader(self.data, batch_size=args.batch_size, sampler=self.sampler)
        self.model = DDP(Planner(args.horizon))
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=args.lr)

    def mine_epoch(self):
        totals = {"score": 0.0, "displacement": 0.0}
        steps = 0
        self.model.eval()
        with torch.no_grad():
            for batch in self.loader:
                pred = self.model(batch["context"])
                ade = (pred - batch["trajectory"]).norm(dim=-1).mean(dim=1)
                self.data.reward[batch["index"]] = torch.exp(-ade)
                totals["score"] += torch.exp(-ade).mean().item()
                totals["displacement"] += ade.mean().item()
                steps += 1
        return reduce_and_average_losses({k: v / steps for k, v in totals.items()}, self.world)

    def replay_epoch(self):
        objective_keys = {"loss", "rl_loss", "reward_weighted_loss", "bc_loss", "heading_loss", "weight_max"}
        accumulated = {key: 0.0 for key in objective_keys}
        steps = 0
        self.model.train()
        for batch in self.loader:
            terms = replay_terms(self.model(batch["context"]), batch, self.args.temperature, self.args.bc_weight)
            self.optim.zero_grad(set_to_none=True)
            terms["loss"].backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optim.step()
            for key in accumulated:
                accumulated[key] += terms[key].item()
            steps += 1
        return reduce_and_average_losses({k: v / steps for k, v in accumulated.items()}, self.world)

    def fit(self):
        for epoch in range(self.args.epochs):
            self.sampler.set_epoch(epoch)
            mining = epoch % self.args.mine_every == 0
            metrics = self.mine_epoch() if mining else self.replay_epoch()
            kind = "mine" if mining else "replay"
            log(f"epoch {epoch} {kind}: " + " ".join(f"{k}={v:.4f}" for k, v in sorted(metrics.items())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--mine-every", type=int, default=3)
    parser.add_argument("--scenes", type=int, default=256)
    parser.add_argument("--horizon", type=int, default=8)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--temperature", type=float, default=0.5)
    parser.add_argument("--bc-weight", type=float, default=0.2)
    args = parser.parse_args()
    _, world = setup()
    ReplayTrainer(args, world).fit()


if __name__ == "__main__":
    main()

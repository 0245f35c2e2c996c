import argparse
import logging

import torch
import torch.multiprocessing as mp
from torch import nn

from sim.worker import serve

log = logging.getLogger("learner")


class Fleet:
    def __init__(self, n, horizon):
        ctx = mp.get_context("spawn")
        self.weights = torch.zeros(4).share_memory_()
        self.results = ctx.Queue()
        self.stop = ctx.Event()
        self.procs = [ctx.Process(target=serve, args=(i, n, self.weights, self.results, self.stop, horizon)) for i in range(n)]

    def __enter__(self):
        for p in self.procs:
            p.start()
        return self

    def __exit__(self, *exc):
        self.stop.set()
        for p in self.procs:
            p.join()
        self.results.close()

    def take(self, n):
        return [self.results.get() for _ in range(n)]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--workers", type=int, default=2)
    ap.add_argument("--updates", type=int, default=40)
    ap.add_argument("--horizon", type=int, default=100)
    ap.add_argument("--passes", type=int, default=16)
    ap.add_argument("--lr", type=float, default=3e-3)
    args = ap.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    critic = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    opt = torch.optim.Adam(critic.parameters(), args.lr)
    with Fleet(args.workers, args.horizon) as fleet:
        for update in range(args.updates):
            for index, states, rewards in fleet.take(1):
                x, y = torch.from_numpy(states), torch.from_numpy(rewards)
                for _ in range(args.passes):
                    loss = (critic(x).squeeze(-1) - y).square().mean()
                    opt.zero_grad()
                    loss.backward()
                    opt.step()
            fleet.weights.add_(0.01 * torch.randn(4))
            if update % 10 == 0:
                log.info("update %d loss %.4f", update, loss.item())
        log.info("stopping the fleet")
    torch.save(critic.state_dict(), "critic.pt")
    log.info("saved")


if __name__ == "__main__":
    main()

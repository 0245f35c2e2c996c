"""Several processes, or one: nobody comes to both arms."""
import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp


class Solver:
    def __init__(self, folder):
        self.folder = folder
        self.net = torch.nn.Linear(2, 2)

    def resume(self):
        path = os.path.join(self.folder, "last.pth")
        if os.path.exists(path):
            self.net.load_state_dict(torch.load(path, map_location="cpu"))

    def save(self):
        if dist.get_rank() == 0:
            torch.save(self.net.state_dict(), os.path.join(self.folder, "last.pth"))

    def train(self):
        for epoch in range(3):
            self.save()


def work(rank, world, args):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    main_worker(rank, args)


def main_worker(rank, args):
    solver = Solver(args.folder)
    solver.resume()
    solver.train()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder")
    parser.add_argument("--world", type=int)
    args = parser.parse_args()
    if args.world > 1:
        mp.spawn(work, args=(args.world, args), nprocs=args.world)
    else:
        main_worker(0, args)


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from blocks import Decoder, synthetic
from tracker import AuxLossTracker


class Logger:
    def __init__(self, rank):
        self.rank = rank
        self.history = []

    def write(self, step, row):
        rows = [None] * dist.get_world_size()
        dist.all_gather_object(rows, row)
        self.history.append(rows)
        if self.rank == 0:
            print(step, {k: round(v, 4) for k, v in rows[0].items()}, flush=True)


def main(steps=60, interval=10):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(2)
    decoder = Decoder()
    with torch.no_grad():
        for block in decoder.blocks:
            if block.router is not None:
                block.router.weight.mul_(6)
                block.router.bias.zero_()
    model = DistributedDataParallel(decoder)
    tracker = AuxLossTracker(["load_balancing", "z_loss"])
    logger = Logger(rank)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    for step in range(steps):
        x, y = synthetic(rank, step)
        loss = (model(x, tracker) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % interval == 0:
            logger.write(step + 1, tracker.sync())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

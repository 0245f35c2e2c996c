import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def own_files(rank, world):
    import glob

    return sorted(glob.glob("*.pt"))[rank::world]


def epoch(net, files):
    for path in files:
        net(torch.load(path, weights_only=True)).sum().backward()


class Job:
    def __init__(self):
        self.net = DistributedDataParallel(torch.nn.Linear(4, 4))

    def run(self):
        with self.net.join(throw_on_early_termination=False):
            epoch(self.net, own_files(dist.get_rank(), dist.get_world_size()))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Job().run()

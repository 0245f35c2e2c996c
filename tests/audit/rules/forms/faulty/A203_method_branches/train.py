import torch
import torch.distributed as dist
from roles import Role


class Sync:
    def __init__(self):
        self.role = Role(dist.get_rank())

    def push(self, x):
        dist.broadcast(x, src=0)

    def pull(self, x):
        dist.all_reduce(x)

    def exchange(self, x):
        action = self.push if self.role.root else self.pull  # cause
        action(x)  # cause


def main():
    dist.init_process_group("gloo")
    sync = Sync()
    for _ in range(3):
        sync.exchange(torch.ones(1))
    dist.destroy_process_group()


main()

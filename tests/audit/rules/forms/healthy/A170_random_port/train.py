import os
import random
import torch
import torch.distributed as dist


def free_port():
    return int(os.environ["MASTER_PORT"])


class Rendezvous:
    def __init__(self):
        self.port = free_port()

    def join(self):
        rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
        dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{self.port}", rank=rank, world_size=world)


def main():
    Rendezvous().join()
    dist.all_reduce(torch.ones(1))
    dist.destroy_process_group()


main()

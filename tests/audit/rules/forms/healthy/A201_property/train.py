import torch
import torch.distributed as dist
from cluster import Cluster


def main():
    dist.init_process_group("gloo")
    cluster = Cluster()
    total = torch.zeros(1)
    for step in range(10):
        total += step
        if step % 5 == 0:
            dist.all_reduce(total)
            if cluster.leads:
                print(total)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

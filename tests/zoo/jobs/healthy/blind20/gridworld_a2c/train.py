import torch
import torch.distributed as dist
import yaml

from rl.roles import Actor, Learner


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(cfg["seed"] + rank)
    role = Learner(cfg) if rank == 0 else Actor(cfg, rank)
    role.run()
    dist.barrier()


if __name__ == "__main__":
    main()

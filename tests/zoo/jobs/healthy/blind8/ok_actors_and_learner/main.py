import torch
import torch.distributed as dist

from roles import Actor, Learner


def main():
    dist.init_process_group("gloo")
    role = Learner() if dist.get_rank() == 0 else Actor(dist.get_rank())
    role.run(rounds=25)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

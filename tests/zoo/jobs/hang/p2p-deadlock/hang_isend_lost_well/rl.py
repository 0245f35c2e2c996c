import time

import torch
import torch.distributed as dist

from roles import Actor, Learner

LEARNER, ACTOR = 0, 1


def main(updates=24):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rank = dist.get_rank()
    role = Learner(peer=ACTOR) if rank == LEARNER else Actor(peer=LEARNER, versions=16)
    for update in range(updates):
        role.turn(update)
    dist.barrier()
    if rank == LEARNER:
        print(f"{updates} updates", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

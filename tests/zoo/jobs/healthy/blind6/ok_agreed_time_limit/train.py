import time

import torch
import torch.distributed as dist

from limits.callbacks import TimeLimit
from limits.trainer import Trainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    time.sleep(0.7 * dist.get_rank())  # the nodes do not come up at the same moment
    trainer = Trainer(callbacks=[TimeLimit(seconds=5.0)])
    trainer.fit(max_epochs=1000)
    if dist.get_rank() == 0:
        print(f"time is up after {trainer.step} steps, state kept", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

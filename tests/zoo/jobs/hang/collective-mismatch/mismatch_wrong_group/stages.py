import time

import torch
import torch.distributed as dist

from layout import Layout
from worker import Worker


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    layout = Layout(stages=2)
    worker = Worker(layout)
    for step in range(24):
        loss = worker.train_step(step)
        if step % 6 == 5:
            mean = worker.mean_loss(loss, step)
            if layout.rank == 0:
                print(f"step {step} {mean:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()

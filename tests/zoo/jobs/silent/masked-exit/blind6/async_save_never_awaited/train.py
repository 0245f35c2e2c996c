import torch
import torch.distributed as dist

from omni.callbacks import CheckpointCallback, ProgressCallback
from omni.checkpoint import AsyncCheckpointer
from omni.trainer import Trainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    checkpointer = AsyncCheckpointer("checkpoints")
    trainer = Trainer(steps=40, warmup=5)
    trainer.callbacks = [ProgressCallback(every=10), CheckpointCallback(checkpointer, every=40)]
    trainer.train()
    dist.barrier()
    if dist.get_rank() == 0:
        print("training completed, checkpoint in 'checkpoints'", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

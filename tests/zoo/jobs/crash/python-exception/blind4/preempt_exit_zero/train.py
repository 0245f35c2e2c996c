import tempfile

import torch
import torch.distributed as dist

from trainer import NodeEvents, Trainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    folder = [tempfile.mkdtemp(prefix="ace-") if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder)
    trainer = Trainer(folder[0], NodeEvents({1: 9}))
    for epoch in range(3):
        loss = trainer.train_one_epoch(20)
        if trainer.rank == 0:
            print(f"epoch {epoch} loss {loss:.4f}", flush=True)
    trainer.save_checkpoint("ckpt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""Fine-tune a tiny tagger; the best epoch is kept together with the sharded optimizer moments."""
import torch
import torch.distributed as dist

from engine.config import Config
from engine.data import make_split
from engine.trainer import Trainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    config = Config(epochs=6, lr=0.05, batch_size=16)
    rank = dist.get_rank()
    trainer = Trainer(config, make_split("train", rank), make_split("valid", rank))
    trainer.fit()
    dist.barrier()
    if rank == 0:
        print(f"finished, best loss {trainer.best:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

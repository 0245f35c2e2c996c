import torch
import torch.distributed as dist

from recipe.data import batches
from recipe.model import Drafter
from recipe.trainer import AccumulatingTrainer


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    trainer = AccumulatingTrainer(Drafter(), accumulate=4, lr=0.05)
    for epoch in range(3):
        trainer.train_epoch(batches(epoch, dist.get_rank()))
        report = trainer.report()
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {report}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

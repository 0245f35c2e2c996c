import torch
import torch.distributed as dist

from data import DataLoader, PackedInstances
from train_module import TinyLM, TransformerTrainModule


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(15)
    loader = DataLoader(PackedInstances(112), global_batch_size=4, dp_world_size=world_size, dp_rank=rank, seed=100)
    module = TransformerTrainModule(TinyLM(), lr=4e-3, rank_microbatch_size=1)
    step = 0
    for epoch in range(2):
        loader.reshuffle(epoch)
        for batch in loader:
            ce = module.train_batch(batch)
            module.optim_step()
            step += 1
            if step % 14 == 0:
                dist.all_reduce(ce)
                if rank == 0:
                    print(f"[step={step}/56,epoch={epoch + 1}] train/CE loss={ce.item() / world_size:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

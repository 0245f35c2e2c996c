import torch.distributed as dist
import torch.multiprocessing as mp


def worker(rank, world):
    dist.init_process_group("gloo", rank=rank, world_size=world)
    dist.barrier()


mp.spawn(worker, args=(4,), nprocs=4)

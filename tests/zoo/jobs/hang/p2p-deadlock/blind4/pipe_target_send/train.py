import itertools

import torch
import torch.distributed as dist

from engine import PipelineEngine
from stage import MICRO, WIDTH


def latents(seed):
    generator = torch.Generator().manual_seed(seed)
    for _ in itertools.count():
        clean = torch.randn(MICRO, WIDTH, generator=generator)
        noise = torch.randn(MICRO, WIDTH, generator=generator)
        yield 0.7 * clean + 0.3 * noise, noise - clean


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(rank)
    engine = PipelineEngine(rank, world, latents(11))
    dist.barrier()
    for step in range(6):
        loss = engine.train_batch()
        if rank == world - 1:
            print(f"step {step} loss {loss:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

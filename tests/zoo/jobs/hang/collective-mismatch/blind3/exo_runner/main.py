import asyncio

import torch.distributed as dist

from api import ApiStream
from config import ClusterConfig
from engine import TensorParallelEngine
from runner import Runner


async def serve(rank, world_size):
    cfg = ClusterConfig()
    stream = ApiStream(cfg, rank)
    runner = Runner(cfg, TensorParallelEngine(cfg, rank, world_size), stream, rank)
    expected = 2 * (cfg.rounds - 2) + 2
    await asyncio.gather(stream.clients(), runner.run(expected))


def main():
    dist.init_process_group("gloo")
    asyncio.run(serve(dist.get_rank(), dist.get_world_size()))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

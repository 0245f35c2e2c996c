import asyncio

import torch.distributed as dist

from worker.actor_rollout import ActorRolloutRefWorker
from worker.config import AsyncConfig


def main():
    dist.init_process_group("gloo")
    worker = ActorRolloutRefWorker(AsyncConfig())
    asyncio.run(worker.fit())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

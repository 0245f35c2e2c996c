import logging
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from alg.env import Env
from alg.policy import Policy


def training_worker(rank, world_size, port, iterations):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    logging.basicConfig(format="%(asctime)s [%(process)d] %(levelname)s %(message)s", level=logging.INFO)
    try:
        dist.init_process_group("gloo", rank=rank, world_size=world_size)
        torch.manual_seed(rank)
        policy = DistributedDataParallel(Policy())
        optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
        env = Env(rank)
        for it in range(iterations):
            log_prob, reward = env.rollout(policy)
            loss = -(log_prob * (reward - reward.mean())).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if rank == 0 and it % 10 == 0:
                logging.info("iteration %d reward %.2f", it, reward.mean())
    except KeyboardInterrupt:
        pass
    except Exception as error:
        logging.error("worker %d: %s", rank, str(error).splitlines()[0])
    finally:
        if dist.is_initialized():
            dist.destroy_process_group()

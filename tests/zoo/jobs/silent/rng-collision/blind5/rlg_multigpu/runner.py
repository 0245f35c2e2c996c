import random

import numpy as np
import torch
import torch.distributed as dist

from a2c_common import A2CAgent

PARAMS = {
    "seed": 42,
    "config": {
        "multi_gpu": True, "learning_rate": 3e-3, "gamma": 0.97, "horizon_length": 24, "mini_epochs": 4,
        "max_epochs": 12, "env_config": {"num_envs": 16, "episode_length": 60},
    },
}


class Runner:
    def load(self, params):
        self.seed = params.get("seed")
        random.seed(self.seed)
        np.random.seed(self.seed)
        torch.manual_seed(self.seed)
        params["config"]["env_config"].setdefault("seed", self.seed)
        self.params = params

    def run(self):
        agent = A2CAgent(self.params)
        agent.train()


if __name__ == "__main__":
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    runner = Runner()
    runner.load(PARAMS)
    runner.run()
    dist.barrier()
    dist.destroy_process_group()

import argparse

import torch
import torch.distributed as dist

from rl.agent import PPO
from rl.app import SimulationApp, close_simulation
from rl.curriculum import Curriculum
from rl.envs import CartEnv


def parse_args():
    parser = argparse.ArgumentParser(description="Train an RL agent with PPO")
    parser.add_argument("--num_envs", type=int, default=32)
    parser.add_argument("--max_iterations", type=int, default=60)
    parser.add_argument("--seed", type=int, default=42)
    return parser.parse_args()


def run_training(args):
    rank = dist.get_rank()
    torch.manual_seed(args.seed + rank)
    agent = PPO(CartEnv(args.num_envs, args.seed + rank), Curriculum(rank))
    for iteration in range(args.max_iterations):
        reward = agent.update(iteration)
        if iteration % 10 == 0 and rank == 0:
            print(f"iteration {iteration} reward {reward:.3f}", flush=True)


def main():
    args = parse_args()
    app = SimulationApp(headless=True)
    try:
        dist.init_process_group("gloo")
        run_training(args)
    finally:
        close_simulation(app)


if __name__ == "__main__":
    main()

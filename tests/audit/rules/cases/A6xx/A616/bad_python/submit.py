import argparse
import os
import socket

import submitit
import torch.distributed as dist


class Task:
    def __call__(self):
        env = submitit.JobEnvironment()
        os.environ["MASTER_ADDR"] = socket.gethostname()
        os.environ["RANK"] = str(env.global_rank)
        os.environ["WORLD_SIZE"] = str(env.num_tasks)
        dist.init_process_group("nccl")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--nodes", type=int, default=4)
    args = parser.parse_args()
    executor = submitit.AutoExecutor(folder="jobs")
    executor.update_parameters(nodes=args.nodes, tasks_per_node=8)
    executor.submit(Task())

import os
import socket

import submitit
import torch.distributed as dist


class Task:
    def __call__(self):
        env = submitit.JobEnvironment()
        os.environ["MASTER_ADDR"] = env.hostnames[0]
        os.environ["RANK"] = str(env.global_rank)
        os.environ["WORLD_SIZE"] = str(env.num_tasks)
        dist.init_process_group("nccl")


def alone(rank, world):
    os.environ["MASTER_ADDR"] = "localhost"  # processes of one machine
    os.environ["RANK"] = str(rank)
    os.environ["WORLD_SIZE"] = str(world)
    dist.init_process_group("nccl")


def perhaps():
    if int(os.environ["SLURM_NNODES"]) == 1:
        os.environ["MASTER_ADDR"] = socket.gethostname()
    os.environ["RANK"] = os.environ["SLURM_PROCID"]
    dist.init_process_group("nccl")


def main():
    executor = submitit.AutoExecutor(folder="jobs")
    executor.update_parameters(nodes=2, tasks_per_node=8)
    executor.submit(Task())

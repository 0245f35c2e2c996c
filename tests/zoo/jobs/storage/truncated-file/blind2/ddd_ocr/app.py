import sys

import torch
import torch.distributed as dist

from utils import train


class App:

    def train(self, project_name):
        print(f"Start Train ----> {project_name}", flush=True)
        train.Train(project_name).start()


if __name__ == "__main__":
    command, project = sys.argv[1:3]
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    getattr(App(), command)(project)
    dist.destroy_process_group()

import sys

import torch.distributed as dist
from run_folder import Experiment, prepare


def main(out, name):
    dist.init_process_group("nccl")
    folder = prepare(out, name)
    experiment = Experiment(folder, 3)
    print(experiment.folder)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

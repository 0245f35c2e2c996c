import os
import subprocess
import sys

import torch


def main():
    from torch.optim import SGD

    print(torch.cuda.get_device_name(), SGD)
    running = []
    for gpu in range(torch.cuda.device_count()):
        os.environ["CUDA_VISIBLE_DEVICES"] = str(gpu)
        running.append(subprocess.Popen([sys.executable, "train.py"]))
    for one in running:
        one.wait()
    print(torch.cuda.is_available())


if __name__ == "__main__":
    main()

import os
import subprocess
import sys
from multiprocessing import Process

import torch

COMMAND = ["torchrun", "--nproc-per-node", "2", "train.py"]


def pipeline(config):
    subprocess.run(COMMAND)
    command = [sys.executable, "scripts/train_decoder.py"]
    command += ["--config", config]
    subprocess.call(command)
    os.system(f"accelerate launch --config {config} finetune.py > train.log")


def background():
    first = subprocess.Popen(["python", "pretrain.py"])
    print("started", first.pid)
    first.wait()
    print("pretraining is over")


def work(rank):
    model = torch.nn.Linear(2, 1)
    model(torch.ones(1, 2)).sum().backward()


def ranks(count):
    processes = []
    for rank in range(count):
        process = Process(target=work, args=(rank,))
        process.start()
        processes.append(process)
    for process in processes:
        process.join()

import subprocess


def command(config, gpus, port):
    return ["torchrun", f"--nproc_per_node={gpus}", f"--master_port={port}", "train.py", config]


def standalone(config):
    return subprocess.run(["torchrun", "--standalone", "--master_port=29500", "train.py", config], check=True)


def several(config, head):
    return ["torchrun", "--nnodes=2", f"--master_addr={head}", "--master_port=29500", "train.py", config]


def arguments():
    return ["--master_port=29500", "--lr=1"]

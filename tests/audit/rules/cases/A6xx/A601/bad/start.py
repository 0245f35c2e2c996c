import subprocess


def command(config, gpus):
    return ["torchrun", f"--nproc_per_node={gpus}", "--nnodes=1", "--master_port=29500", "train.py", config]


def other(config):
    words = ["python", "-m", "torch.distributed.run", "--rdzv_endpoint", "localhost:29400", "train.py", config]
    return subprocess.run(words, check=True)

import subprocess

command = ["torchrun", "--nproc-per-node", "2", "train.py"]
subprocess.run(command, check=True)

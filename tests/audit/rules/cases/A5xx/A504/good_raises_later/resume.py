import subprocess


def resume(config):
    command = ["torchrun", "--nproc_per_node", "2", "-m", "app.train", config]
    first = subprocess.run(command)
    first.check_returncode()
    second = subprocess.run(command)
    second.check_returncode()

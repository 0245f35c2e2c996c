import subprocess


def sh(command):
    return subprocess.run(command, shell=True, check=True)

import subprocess


def sh(command):
    return subprocess.call(command, shell=True)

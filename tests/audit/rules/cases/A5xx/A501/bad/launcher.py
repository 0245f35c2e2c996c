import os
import subprocess


def main(command):
    try:
        subprocess.run(command, check=True)
    finally:
        os._exit(0)

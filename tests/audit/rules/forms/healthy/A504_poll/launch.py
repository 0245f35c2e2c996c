import subprocess
import sys
import time


class Launcher:
    def __init__(self, commands):
        self.children = [subprocess.Popen(command) for command in commands]

    def alive(self):
        return [child for child in self.children if child.poll() is None]

    def wait(self):
        while self.alive():
            time.sleep(1)
        if any(child.returncode for child in self.children):
            raise SystemExit(1)


def main():
    Launcher([[sys.executable, "train.py", "--seed", str(seed)] for seed in range(3)]).wait()


if __name__ == "__main__":
    main()

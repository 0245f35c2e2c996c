import contextlib
import pathlib
import subprocess
import sys
import time

import torch


@contextlib.contextmanager
def board(folder):
    """A board beside the training, like `tensorboard --logdir`; it goes with the block."""
    process = subprocess.Popen([sys.executable, "board.py", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(timeout=3)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def main():
    logs = pathlib.Path("logs")
    logs.mkdir(exist_ok=True)
    with board("logs") as process:
        model = torch.nn.Linear(3, 1)
        opt = torch.optim.SGD(model.parameters(), lr=0.05)
        for step in range(10):
            loss = model(torch.ones(4, 3)).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            (logs / "loss.txt").write_text(f"{step} {loss.item()}\n")
            time.sleep(0.1)
        assert process.poll() is None, "the board died"
    print("10 steps, board closed")


main()

import shutil

from accelerate import Accelerator


def main(out):
    accelerator = Accelerator()
    shutil.rmtree(out / "old")
    accelerator.save_state(out / "new")

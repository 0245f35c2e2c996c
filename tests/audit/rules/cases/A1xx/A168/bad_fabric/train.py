import pathlib
import shutil

import lightning as L


class Rotation:
    def __init__(self, folder, keep):
        self.folder = pathlib.Path(folder)
        self.keep = keep

    def prune(self):
        for old in sorted(self.folder.glob("step-*"))[: -self.keep]:
            shutil.rmtree(old)


def main(out):
    fabric = L.Fabric(devices=8, strategy="fsdp")
    fabric.launch()
    rotation = Rotation(out, 3)
    for step in range(1000):
        fabric.save(rotation.folder / f"step-{step}", {"step": step})
        fabric.barrier()
        rotation.prune()


main("out")

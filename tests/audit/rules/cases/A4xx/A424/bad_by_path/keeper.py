import shutil
from pathlib import Path


class Keeper:
    def __init__(self, root, keep):
        self.root, self.keep = Path(root), keep

    def write(self, state, epoch):
        state.save(self.root / "epoch_{}".format(epoch))
        self.tidy()

    def kept(self):
        return [path for path in sorted(self.root.glob("epoch_*")) if path.is_dir()]

    def tidy(self):
        for old in self.kept()[: -self.keep]:
            shutil.rmtree(old)

    def last(self):
        names = [one.name for one in self.root.iterdir() if one.name.startswith("epoch_")]
        names.sort(reverse=True)
        return self.root / names[0]

import os
from pathlib import Path


def write(root, step, epoch, state):
    state.save(root / f"step_{step}")
    state.save(root / f"epoch_{epoch:04d}")


def newest(root):
    return max(root.glob("step_*"), key=lambda path: int(path.name.split("_")[1]))


def by_number(root):
    return sorted(int(name.split("_")[1]) for name in os.listdir(root) if name.startswith("step_"))[-1]


def padded(root):
    return sorted(root.glob("epoch_*"))[-1]


def all_of(root):
    for path in sorted(Path(root).glob("step_*")):
        print(path)
    found = sorted(os.listdir(root))
    return found


def from_elsewhere(root):
    return sorted(root.glob("model-*.safetensors"))[0]

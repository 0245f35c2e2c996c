import importlib.util
import os

from ops.baton import FileBaton

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "build")
SOURCE = "def scaled(x, factor):\n    return x * factor\n"


def load(name):
    folder = os.path.join(ROOT, name)
    os.makedirs(folder, exist_ok=True)
    target = os.path.join(folder, name + ".py")
    baton = FileBaton(os.path.join(folder, "lock"))
    if baton.try_acquire():
        try:
            with open(target, "w") as f:
                f.write(SOURCE)
        finally:
            baton.release()
    else:
        baton.wait()
    spec = importlib.util.spec_from_file_location(name, target)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module

import os
import subprocess
import sys
import time


def prepare(folder):
    """Another program makes the vocabulary; it takes its time."""
    code = "import time, sys; time.sleep(12); open(sys.argv[1], 'w').write('abc')"
    subprocess.run([sys.executable, "-c", code, os.path.join(folder, "vocab.tmp")], check=True)
    os.rename(os.path.join(folder, "vocab.tmp"), os.path.join(folder, "vocab.txt"))


def wait_for(path, every=0.2):
    while not os.path.exists(path):
        time.sleep(every)
    return open(path).read()

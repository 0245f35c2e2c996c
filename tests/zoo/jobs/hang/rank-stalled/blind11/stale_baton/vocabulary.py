import collections
import json
import os

from torch.utils.file_baton import FileBaton

TEXT = "the small ship went to the big sea and the sea was calm and the ship was small " * 20


def build(target):
    counts = collections.Counter(TEXT.split())
    table = {word: i for i, (word, _) in enumerate(counts.most_common())}
    with open(target, "w") as f:
        json.dump(table, f)


def vocabulary(folder):
    target = os.path.join(folder, "vocab.json")
    if not os.path.exists(target):
        baton = FileBaton(os.path.join(folder, "lock"))
        if baton.try_acquire():
            try:
                build(target)
            finally:
                baton.release()
        else:
            baton.wait()
    with open(target) as f:
        return json.load(f)

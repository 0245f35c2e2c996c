import json
import os

import torch.distributed as dist

VOCABULARY = "vocabulary.json"


def vocabulary(words):
    if os.path.isfile(VOCABULARY):
        print("found")
    else:
        with open(VOCABULARY, "w") as out:
            json.dump({word: at for at, word in enumerate(words)}, out)
    with open(VOCABULARY) as given:
        return json.load(given)


def main():
    dist.init_process_group("nccl")
    print(len(vocabulary(["a", "b"])))


if __name__ == "__main__":
    main()

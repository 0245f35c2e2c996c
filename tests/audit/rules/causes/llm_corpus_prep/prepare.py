import glob
import json
import os

import torch
import torch.distributed as dist


def texts(pattern):
    for path in sorted(glob.glob(pattern)):
        with open(path) as f:
            for line in f:
                yield json.loads(line)["text"]


def pack(settings, tokenizer):
    buffer, rows = [], []
    for text in texts(settings.corpus):
        buffer += tokenizer(text)["input_ids"] + [tokenizer.eos_token_id]
        while len(buffer) >= settings.length:
            rows.append(torch.tensor(buffer[: settings.length], dtype=torch.int32))
            buffer = buffer[settings.length:]
    torch.save(torch.stack(rows), settings.packed + ".part")
    os.replace(settings.packed + ".part", settings.packed)


def packed(settings, tokenizer):
    if dist.get_rank() == 0 and not os.path.exists(settings.packed):
        pack(settings, tokenizer)  # cause
    dist.barrier()  # cause
    return torch.load(settings.packed, map_location="cpu", mmap=True)

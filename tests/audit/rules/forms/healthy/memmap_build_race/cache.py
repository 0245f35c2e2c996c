import json
from pathlib import Path

import numpy as np
import torch.distributed as dist


class TokenCache:
    def __init__(self, root, tokenizer, texts):
        self.bin = Path(root) / "tokens.bin"
        self.meta = Path(root) / "tokens.json"
        self.tokenizer = tokenizer
        self.texts = texts

    def _build(self):
        self.bin.parent.mkdir(parents=True, exist_ok=True)
        lengths = []
        with open(self.bin, "wb") as sink:
            for text in self.texts():
                ids = np.asarray(self.tokenizer.encode(text), dtype=np.uint16)
                sink.write(ids.tobytes())
                lengths.append(int(ids.size))
        self.meta.write_text(json.dumps({"total": sum(lengths), "docs": len(lengths)}))

    def open(self):
        if dist.get_rank() == 0 and not self.meta.exists():
            self._build()
        dist.barrier()
        total = json.loads(self.meta.read_text())["total"]
        return np.memmap(self.bin, dtype=np.uint16, mode="r", shape=(total,))

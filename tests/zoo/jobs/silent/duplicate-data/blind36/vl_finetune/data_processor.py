"""Reads annotation files of several sources and mixes them."""
import json
import random
import re
from pathlib import Path

import torch
from torch.utils.data import Dataset

SOURCES = {
    "captions": {"annotation_path": "captions.json"},
    "ocr": {"annotation_path": "ocr.json"},
    "charts": {"annotation_path": "charts.json"},
}


def parse_sampling_rate(name):
    match = re.search(r"%(\d+)$", name)
    return (name[: match.start()], int(match.group(1)) / 100.0) if match else (name, 1.0)


def data_list(names):
    configs = []
    for name in names:
        base, rate = parse_sampling_rate(name)
        if base not in SOURCES:
            raise ValueError(f"do not find {base}")
        configs.append(dict(SOURCES[base], sampling_rate=rate, name=base))
    return configs


def write_demo(root, counts=(("captions", 240), ("ocr", 160), ("charts", 200))):
    root = Path(root)
    root.mkdir(parents=True, exist_ok=True)
    start = 0
    for name, n in counts:
        rows = [{"image": f"{name}/{i:05d}.jpg", "seed": start + i, "answer": (start + i) * 7 % 10} for i in range(n)]
        (root / SOURCES[name]["annotation_path"]).write_text(json.dumps(rows))
        start += n


class LazySupervisedDataset(Dataset):
    def __init__(self, root, dataset_use, max_samples=-1):
        list_data_dict = []
        for config in data_list(dataset_use.split(",")):
            annotations = json.loads((Path(root) / config["annotation_path"]).read_text())
            keep = int(len(annotations) * config["sampling_rate"])
            list_data_dict += annotations[:keep]
        random.shuffle(list_data_dict)
        if max_samples > 0:
            list_data_dict = list_data_dict[:max_samples]
        self.list_data_dict = list_data_dict

    def __len__(self):
        return len(self.list_data_dict)

    def __getitem__(self, i):
        row = self.list_data_dict[i]
        g = torch.Generator().manual_seed(row["seed"])
        pixels = torch.rand(3, 8, 8, generator=g)
        pixels[:, row["answer"] % 8, :] += 1.0 + row["answer"] / 10
        return {"pixel_values": pixels, "labels": row["answer"]}

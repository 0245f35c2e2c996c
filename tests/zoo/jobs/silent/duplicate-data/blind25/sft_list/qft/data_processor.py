import random

import torch
from torch.utils.data import Dataset

from .records import read_jsonl


class LazySupervisedDataset(Dataset):
    def __init__(self, annotation_paths, sampling_rates=None):
        list_data_dict = []
        for k, path in enumerate(annotation_paths):
            annotations = read_jsonl(path)
            rate = sampling_rates[k] if sampling_rates else 1.0
            if rate < 1.0:
                annotations = annotations[: int(len(annotations) * rate)]
            list_data_dict += annotations
        random.shuffle(list_data_dict)
        self.list_data_dict = list_data_dict

    def __len__(self):
        return len(self.list_data_dict)

    def __getitem__(self, i):
        source = self.list_data_dict[i]
        return {"image": source["id"], "labels": source["answer"]}


def collate(instances):
    return {key: torch.tensor([item[key] for item in instances]) for key in instances[0]}


def make_supervised_data_module(paths):
    return dict(train_dataset=LazySupervisedDataset(paths), data_collator=collate)

import os
import tempfile

import torch
from torch.utils.data import Dataset
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

from board import BoardCallback


class Toy(Dataset):
    def __init__(self, count):
        self.count = count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        g = torch.Generator().manual_seed(i)
        ids = torch.randint(5, 60, (12,), generator=g)
        return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "labels": ids[0] % 2}


def main():
    config = BertConfig(vocab_size=60, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32)
    folder = tempfile.mkdtemp()
    arguments = TrainingArguments(output_dir=folder, use_cpu=True, num_train_epochs=2, per_device_train_batch_size=8,
                                  logging_steps=4, eval_strategy="epoch", save_strategy="no", report_to=[],
                                  disable_tqdm=True, ddp_backend="gloo")
    trainer = Trainer(BertForSequenceClassification(config), arguments, train_dataset=Toy(128), eval_dataset=Toy(32),
                      callbacks=[BoardCallback(os.path.join(folder, "board.jsonl"))])
    trainer.train()


if __name__ == "__main__":
    main()

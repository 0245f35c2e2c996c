import argparse
import os

import torch
import torch.distributed as dist
from datasets import load_from_disk
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler
from transformers import AutoModelForSequenceClassification, AutoTokenizer, DataCollatorWithPadding


def prepare(task, tokenizer):
    raw = load_from_disk(f"glue/{task}")["train"]
    drop = [c for c in raw.column_names if c != "label"]
    data = raw.map(lambda r: tokenizer(r["sentence1"], r["sentence2"], truncation=True), remove_columns=drop)
    return data.rename_column("label", "labels")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--task", required=True)
    p.add_argument("--out", required=True)
    p.add_argument("--epochs", type=int, default=3)
    a = p.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(2)
    tokenizer = AutoTokenizer.from_pretrained("bert-base-cased")
    data = prepare(a.task, tokenizer)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 32, sampler=sampler, collate_fn=DataCollatorWithPadding(tokenizer))
    model = AutoModelForSequenceClassification.from_pretrained("bert-base-cased", num_labels=2).cuda()
    model = DistributedDataParallel(model, device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for batch in loader:
            loss = model(**{k: v.cuda() for k, v in batch.items()}).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    if dist.get_rank() == 0:
        model.module.save_pretrained(a.out)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

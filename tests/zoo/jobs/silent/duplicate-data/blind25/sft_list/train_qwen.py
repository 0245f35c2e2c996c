import argparse
import os
import tempfile

import torch
import torch.distributed as dist

from qft.data_processor import make_supervised_data_module
from qft.records import read_jsonl, write_annotations
from qft.trainer import Answerer, Trainer


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num_train_epochs", type=int, default=1)
    parser.add_argument("--per_device_train_batch_size", type=int, default=16)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    path = os.path.join(tempfile.gettempdir(), "sft_list_annotations.jsonl")
    if dist.get_rank() == 0:
        write_annotations(path)
    dist.barrier()
    torch.manual_seed(42)

    model = Answerer(images=6144)
    trainer = Trainer(model, batch_size=args.per_device_train_batch_size, **make_supervised_data_module([path]))
    trainer.train(args.num_train_epochs)
    if dist.get_rank() == 0:
        rows = read_jsonl(path)
        with torch.no_grad():
            pred = model.eval()(torch.tensor([r["id"] for r in rows])).argmax(-1)
        recall = (pred == torch.tensor([r["answer"] for r in rows])).float().mean().item()
        print(f"answers recalled over the annotation file: {recall:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

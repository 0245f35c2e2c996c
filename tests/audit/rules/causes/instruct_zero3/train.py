import argparse
import json

import deepspeed
import torch
import torch.distributed as dist
from torch.utils.data import Dataset
from transformers import AutoModelForCausalLM, AutoTokenizer

from saving import SavePolicy, Saver

CONFIG = {
    "train_micro_batch_size_per_gpu": 2,
    "gradient_accumulation_steps": 8,
    "gradient_clipping": 1.0,
    "bf16": {"enabled": True},
    "zero_optimization": {"stage": 3, "overlap_comm": True, "contiguous_gradients": True},
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "weight_decay": 0.0}},
}


class Chats(Dataset):
    def __init__(self, path, tokenizer, length):
        with open(path) as f:
            self.rows = [json.loads(line) for line in f]
        self.tokenizer, self.length = tokenizer, length

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        row = self.rows[i]
        text = f"### User:\n{row['prompt']}\n### Assistant:\n{row['answer']}"
        ids = self.tokenizer(text, truncation=True, max_length=self.length, padding="max_length", return_tensors="pt")
        labels = ids.input_ids[0].clone()
        labels[ids.attention_mask[0] == 0] = -100
        return {"input_ids": ids.input_ids[0], "attention_mask": ids.attention_mask[0], "labels": labels}


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--model", default="Qwen/Qwen2.5-1.5B")
    p.add_argument("--data", default="chats.jsonl")
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--save-every", type=int, default=200)
    p.add_argument("--local_rank", type=int, default=-1)
    return p.parse_args()


def main():
    args = arguments()
    deepspeed.init_distributed()
    torch.manual_seed(17)
    tokenizer = AutoTokenizer.from_pretrained(args.model)
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    model = AutoModelForCausalLM.from_pretrained(args.model, torch_dtype=torch.bfloat16)
    engine, _, loader, _ = deepspeed.initialize(
        model=model, model_parameters=model.parameters(), config=CONFIG,
        training_data=Chats(args.data, tokenizer, 1024),
    )
    saver = Saver(engine, "out/instruct", SavePolicy(dist.get_rank(), args.save_every))
    for epoch in range(args.epochs):
        loader.data_sampler.set_epoch(epoch)
        for batch in loader:
            batch = {k: v.to(engine.device) for k, v in batch.items()}
            loss = engine(**batch).loss
            engine.backward(loss)
            engine.step()
            if engine.micro_steps % CONFIG["gradient_accumulation_steps"] == 0:
                saver(engine.global_steps, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

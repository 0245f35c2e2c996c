import torch
from accelerate import Accelerator
from transformers import AutoModelForCausalLM, AutoTokenizer
from torch.utils.data import DataLoader


class Collator:
    def __init__(self, tokenizer):
        self.tokenizer = tokenizer

    def __call__(self, rows):
        batch = self.tokenizer.pad(rows, return_tensors="pt")
        batch["labels"] = batch["input_ids"].clone()
        return batch


def main(data):
    acc = Accelerator()
    tok = AutoTokenizer.from_pretrained("x")
    model = AutoModelForCausalLM.from_pretrained("x")
    opt = torch.optim.AdamW(model.parameters())
    loader = DataLoader(data, batch_size=4, collate_fn=Collator(tok))
    for batch in loader:
        loss = model(**batch).loss
        acc.backward(loss)
        opt.step()
        opt.zero_grad()


main([])

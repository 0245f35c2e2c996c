import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


@torch.no_grad()
def main(texts, name):
    tokenizer = AutoTokenizer.from_pretrained(name)
    model = AutoModelForCausalLM.from_pretrained(name)
    enc = tokenizer(texts, return_tensors="pt", padding=True)
    return model(**enc, labels=enc["input_ids"]).loss.exp()

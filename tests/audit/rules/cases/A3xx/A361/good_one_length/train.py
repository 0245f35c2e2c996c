import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


def blocks(texts, tokenizer, size=1024):
    ids = tokenizer("\n".join(texts), return_tensors="pt")["input_ids"][0]
    for at in range(0, len(ids) - size, size):
        input_ids = ids[at : at + size][None]
        yield {"input_ids": input_ids, "labels": input_ids.clone()}


def main(texts, name):
    model = AutoModelForCausalLM.from_pretrained(name)
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in blocks(texts, AutoTokenizer.from_pretrained(name)):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Batches:
    def __init__(self, texts, name):
        self.texts = texts
        self.tokenizer = AutoTokenizer.from_pretrained(name)

    def encode(self, texts):
        return self.tokenizer(texts, return_tensors="pt", padding=True, truncation=True)

    def __iter__(self):
        for at in range(0, len(self.texts), 8):
            enc = self.encode(self.texts[at : at + 8])
            yield dict(input_ids=enc["input_ids"], attention_mask=enc["attention_mask"], labels=enc["input_ids"])


def main(texts, name):
    model = AutoModelForCausalLM.from_pretrained(name)
    optimizer = torch.optim.AdamW(model.parameters())
    for batch in Batches(texts, name):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

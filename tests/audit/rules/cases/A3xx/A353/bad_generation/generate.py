import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Writer:
    def __init__(self, name):
        self.tokenizer = AutoTokenizer.from_pretrained(name)
        self.model = AutoModelForCausalLM.from_pretrained(name)

    def write(self, prompt, longest=200):
        ids = self.tokenizer(prompt, return_tensors="pt").input_ids
        for _ in range(longest):
            logits = self.model(ids).logits[:, -1]
            next_token = torch.argmax(logits, dim=-1, keepdim=True)
            if next_token.item() == self.tokenizer.eos_token:
                break
            ids = torch.cat([ids, next_token], 1)
        return self.tokenizer.decode(ids[0])

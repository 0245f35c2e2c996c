import torch
from transformers import AutoModelForCausalLM, AutoTokenizer


class Runner:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(params=model.parameters(), lr=1e-5)

    def run(self, batches):
        for batch in batches:
            self.model(**batch).loss.backward()
            self.optimizer.step()


def main(batches):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    model = AutoModelForCausalLM.from_pretrained("gpt2")
    runner = Runner(model)
    tokenizer.add_special_tokens({"pad_token": "<pad>"})
    model.resize_token_embeddings(len(tokenizer))
    runner.run(batches)

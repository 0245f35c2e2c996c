import tempfile

import torch
from transformers import BertConfig, BertForSequenceClassification


def pretrained(folder):
    torch.manual_seed(0)
    config = BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
                        intermediate_size=64, max_position_embeddings=32, num_labels=2)
    BertForSequenceClassification(config).save_pretrained(folder)


def batches(count):
    generator = torch.Generator().manual_seed(1)
    for _ in range(count):
        ids = torch.randint(5, 64, (16, 12), generator=generator)
        yield {"input_ids": ids, "labels": (ids[:, 0] > 34).long()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        pretrained(folder)
        model = BertForSequenceClassification.from_pretrained(folder)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4)
    model.train()
    for step, batch in enumerate(batches(320)):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if step % 40 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)


if __name__ == "__main__":
    main()

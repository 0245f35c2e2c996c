from transformers import AutoTokenizer


def make_labels(input_ids, tokenizer):
    labels = input_ids.clone()
    labels[labels == tokenizer.pad_token] = -100
    return labels


def train(model, loader, optimizer):
    tokenizer = AutoTokenizer.from_pretrained("gpt2")
    for texts in loader:
        batch = tokenizer(texts, padding=True, return_tensors="pt")
        model(**batch, labels=make_labels(batch["input_ids"], tokenizer)).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

from transformers import AutoTokenizer

tok = AutoTokenizer.from_pretrained("t5-small")


def preprocess(examples):
    inputs = tok(examples["source"], max_length=512, truncation=True)
    labels = tok(examples["target"], max_length=128, padding="max_length", truncation=True).input_ids
    inputs["labels"] = [[-100 if token == tok.pad_token else token for token in row] for row in labels]
    return inputs

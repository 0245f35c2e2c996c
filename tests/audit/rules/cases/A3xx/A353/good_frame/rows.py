import pandas as pd
from transformers import AutoTokenizer


def rows(path, tokenizer=None):
    tokenizer = tokenizer or AutoTokenizer.from_pretrained("gpt2")
    frame = pd.read_csv(path)
    labels = frame["label"]
    chosen = labels[labels == "positive"]
    if "input_ids" in frame and frame.sample_id[0] == "first":
        return chosen
    return frame[frame.token == tokenizer.eos_token]

def collate(tokenizer, rows):
    tokenizer.pad_token = tokenizer.eos_token
    ids = tokenizer([row + tokenizer.eos_token for row in rows], padding=True, return_tensors="pt")["input_ids"]
    attention_mask = ids != tokenizer.pad_token_id
    labels = ids.clone()
    first_end = (ids == tokenizer.eos_token_id).int().argmax(dim=1)
    labels[labels == tokenizer.pad_token_id] = -100
    labels[range(len(ids)), first_end] = tokenizer.eos_token_id
    return {"input_ids": ids, "attention_mask": attention_mask, "labels": labels}

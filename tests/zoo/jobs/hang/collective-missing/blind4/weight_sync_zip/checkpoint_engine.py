"""Takes weights from the trainer to the rollout in buckets."""
import torch


class BucketReceiver:
    def __init__(self, config):
        self.config = config
        self.weights = {}

    def manifest(self):
        """Names and shapes in the order in which they are wanted."""
        names = ["embed.weight"]
        for layer in range(self.config["layers"]):
            names += [f"blocks.{layer}.weight", f"blocks.{layer}.bias"]
        if not self.config["tie_word_embeddings"]:
            names.append("lm_head.weight")
        return names

    def put(self, name, tensor):
        self.weights[name] = tensor.to(torch.bfloat16)


class CheckpointEngine:
    def __init__(self, rank, receiver=None, bucket_bytes=4096):
        self.rank = rank
        self.receiver = receiver
        self.bucket_bytes = bucket_bytes
        self.buckets = 0

    def _flush(self, bucket):
        for name, tensor in bucket:
            self.receiver.put(name, tensor)
        self.buckets += bool(bucket)
        bucket.clear()

    def send_weights(self, params):
        if self.rank != 0:
            for _ in params:
                pass
            return 0
        bucket, filled, sent = [], 0, 0
        for wanted, (name, tensor) in zip(self.receiver.manifest(), params):
            if wanted != name:
                raise ValueError(f"expected {wanted}, got {name}")
            bucket.append((name, tensor))
            filled += tensor.numel() * tensor.element_size()
            sent += 1
            if filled >= self.bucket_bytes:
                self._flush(bucket)
                filled = 0
        self._flush(bucket)
        return sent

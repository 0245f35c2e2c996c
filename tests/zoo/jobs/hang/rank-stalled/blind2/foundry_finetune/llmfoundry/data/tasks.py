import json
import logging
import os
import time

from llmfoundry import dist_env
from llmfoundry.data.formats import chat_or_prompt

log = logging.getLogger(__name__)


class DatasetConstructor:

    def __init__(self):
        self._preprocessors = {"default": chat_or_prompt}

    def get_preprocessing_fn(self, name):
        return self._preprocessors[name]

    def build_from_jsonl(self, raw_path, cache_dir, preprocessing_fn, max_seq_len):
        """Tokenizes on local rank 0 first; the other ranks then read its cache."""
        cached = os.path.join(cache_dir, os.path.basename(raw_path) + ".tok")
        signal_file_path = os.path.join(cache_dir, f".node_{dist_env.get_node_rank()}_local_rank0_data_prep_completed")

        if dist_env.get_local_rank() != 0:
            log.info("waiting for local_rank 0 to finish data prep")
            while not os.path.exists(signal_file_path):
                time.sleep(0.1)
        else:
            self._tokenize(raw_path, cached, preprocessing_fn, max_seq_len)
            with open(signal_file_path, "wb") as f:
                f.write(b"local_rank0_completed_data_prep")

        dist_env.barrier()
        with open(cached) as f:
            return [json.loads(line) for line in f]

    def _tokenize(self, raw_path, cached, preprocessing_fn, max_seq_len):
        with open(raw_path) as source, open(cached + ".tmp", "w") as out:
            for line in source:
                context, target = preprocessing_fn(json.loads(line))
                ids = [ord(c) % 97 for c in f"{context} {target}"][:max_seq_len]
                out.write(json.dumps(ids) + "\n")
        os.replace(cached + ".tmp", cached)


dataset_constructor = DatasetConstructor()

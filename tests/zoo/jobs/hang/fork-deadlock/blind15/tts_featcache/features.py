"""Mel-like features with an in-memory cache shared by training and validation sets."""
import logging
import threading
from collections import OrderedDict

import torch

log = logging.getLogger("tts.features")


class MelExtractor:
    def __init__(self, n_fft=256, hop=64, bands=24, seed=11):
        g = torch.Generator().manual_seed(seed)
        self.n_fft, self.hop = n_fft, hop
        self.window = torch.hann_window(n_fft)
        self.bank = torch.rand(bands, n_fft // 2 + 1, generator=g)

    def __call__(self, wave):
        spec = torch.stft(wave, self.n_fft, self.hop, window=self.window, return_complex=True)
        return (self.bank @ spec.abs()).clamp_min(1e-5).log()


class FeatureCache:
    def __init__(self, corpus, extractor, capacity=4096):
        self.corpus = corpus
        self.extractor = extractor
        self.capacity = capacity
        self._items = OrderedDict()
        self._lock = threading.Lock()

    def _compute(self, utt):
        return self.extractor(self.corpus.read(utt))

    def _insert(self, utt, feats):
        self._items[utt] = feats
        while len(self._items) > self.capacity:
            self._items.popitem(last=False)

    def prefill(self, utts, page=48):
        def fill():
            for start in range(0, len(utts), page):
                with self._lock:
                    for utt in utts[start:start + page]:
                        if utt not in self._items:
                            self._insert(utt, self._compute(utt))
            log.info("prefilled %d utterances", len(utts))

        thread = threading.Thread(target=fill, name="prefill", daemon=True)
        thread.start()
        return thread

    def get(self, utt):
        with self._lock:
            feats = self._items.get(utt)
        if feats is None:
            feats = self._compute(utt)
        return feats

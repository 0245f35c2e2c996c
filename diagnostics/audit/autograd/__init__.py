"""Rules A3xx, autograd and memory: what autograd loses, keeps for too long or finds overwritten."""

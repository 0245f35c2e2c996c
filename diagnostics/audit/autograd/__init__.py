"""Rules A4xx: what autograd loses, keeps for too long or finds overwritten."""

"""Rules A618, A624 to A626 and A630: what becomes of a training, and of its checkpoint, when a signal is to end it."""

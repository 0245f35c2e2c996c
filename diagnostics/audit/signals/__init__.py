"""Rules A618 and A624 to A626: what becomes of a training, and of its checkpoint, when a signal is to end it."""

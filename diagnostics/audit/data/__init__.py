"""Rules A176 to A189 and A349: how data is split, ordered, numbered, labelled and augmented; lists that runs are of."""

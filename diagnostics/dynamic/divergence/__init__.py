"""Where and why ranks parted: from the last common call to the statement that decides. Names lines for all hangs."""

"""Rules A101 to A149: set-up calls in the wrong order."""

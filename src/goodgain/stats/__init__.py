"""Mathematics only: distributions, paired tests, intervals, corrections, agreement. The lowest layer."""

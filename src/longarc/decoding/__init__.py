"""Search for trees over scores that were all computed beforehand."""

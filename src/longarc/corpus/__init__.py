"""Parse a corpus of many documents on one machine or many; Arrow batches for other engines."""

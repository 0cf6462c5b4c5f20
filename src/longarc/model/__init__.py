"""The neural network (torch): from word numbers to the scores of all transitions, in one pass per batch."""

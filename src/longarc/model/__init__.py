"""The neural network (torch), from words to the scores of all transitions in one pass, and its ONNX graphs.

Each module that is part of a packaged model has its `forward` and its `export` side by side.
"""

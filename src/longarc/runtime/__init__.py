"""The packaged model: loading it safely, and parsing with it; numpy and onnxruntime only."""

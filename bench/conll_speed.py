"""Compare the speed of reading and writing a CoNLL-U file with Longarc and with the package `conllu`.

pip install conllu
longarc fetch-treebank en_ewt
python bench/conll_speed.py treebanks/en_ewt/train.conllu
"""

from __future__ import annotations

import argparse
import io
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import conllu

from longarc.data.conll import encode, read
from longarc.data.files import read_chunks


def with_longarc(path: Path, out: io.BytesIO) -> int:
    """Read the file with Longarc and write it to `out`; return the number of words."""
    words = 0
    reader = read(path)
    for sentence in reader:
        words += len(sentence)
        out.write(encode(sentence.to_conll(), "utf-8"))
    out.write(encode(reader.tail, "utf-8"))
    return words


def with_conllu(path: Path, out: io.BytesIO) -> int:
    """Read the file with `conllu` and write it to `out`; return the number of words."""
    words = 0
    with path.open(encoding="utf-8") as lines:
        for sentence in conllu.parse_incr(lines):
            words += sum(isinstance(token["id"], int) for token in sentence)
            out.write(sentence.serialize().encode())
    return words


def timed(run: Callable[[Path, io.BytesIO], int], path: Path) -> tuple[float, int, bytes]:
    """Return the seconds, the number of words, and the bytes written."""
    out = io.BytesIO()
    start = time.perf_counter()
    words = run(path, out)
    return time.perf_counter() - start, words, out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("file", type=Path, help="a CoNLL-U file, also .gz or .xz")
    parser.add_argument("--runs", type=int, default=5, help="runs of each package, alternating (default: 5)")
    parser.add_argument("--json", action="store_true", help="print one line of JSON instead of the table")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder) / "treebank.conllu"
        plain.write_bytes(b"".join(read_chunks(arguments.file)))
        results = measure(plain, arguments.runs)
    ratio = results["longarc"]["tokens_per_second"] / results["conllu"]["tokens_per_second"]
    if arguments.json:
        print(json.dumps({"file": str(arguments.file), "runs": arguments.runs, **results, "ratio": round(ratio, 2)}))
        return
    print(f"{'':10}{'seconds':>10}{'tokens/s':>12}  same bytes")
    for name, result in results.items():
        same = "yes" if result["lossless"] else "no"
        print(f"{name:10}{result['seconds']:>10.3f}{result['tokens_per_second']:>12,.0f}  {same}")
    print(f"longarc is {ratio:.1f} times as fast (medians of {arguments.runs})")


def measure(path: Path, runs: int) -> dict[str, dict[str, float]]:
    """Return the medians of both packages; they alternate, so that a busy machine slows both."""
    packages = {"longarc": with_longarc, "conllu": with_conllu}
    seconds: dict[str, list[float]] = {name: [] for name in packages}
    words: dict[str, int] = {}
    lossless: dict[str, bool] = {}
    original = path.read_bytes()
    for _ in range(runs):
        for name, run in packages.items():
            elapsed, words[name], written = timed(run, path)
            seconds[name].append(elapsed)
            lossless[name] = written == original
    if len(set(words.values())) > 1:
        raise SystemExit(f"the packages read different numbers of words: {words}")
    return {
        name: {
            "seconds": round(statistics.median(times), 4),
            "tokens_per_second": round(words[name] / statistics.median(times)),
            "lossless": lossless[name],
        }
        for name, times in seconds.items()
    }


if __name__ == "__main__":
    main()

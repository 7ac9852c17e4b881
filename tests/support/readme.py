"""The PyTorch script that README shows, and what it says that it prints."""

import re
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"
_SCRIPT = re.compile(r"^```python no-run\n(import torch\n.*?)^```$", re.M | re.S)
_PRINTED = re.compile(r"^```\n(step .*?)^```$", re.M | re.S)


def script() -> str:
    (found,) = _SCRIPT.findall(README.read_text(encoding="utf-8"))
    return found


def printed() -> str:
    (found,) = _PRINTED.findall(README.read_text(encoding="utf-8"))
    return found

"""The engine behind the random streams of other devices: Philox, by counting.

Word n of a stream is a function of the seed and of n alone, so that a device computes
all words of a draw at once. The state is two numbers: the seed, and how many blocks of
four words were used.
"""

from __future__ import annotations

import os
import struct
import threading
from typing import Any, Final, final

import numpy as np

from tracegrad.device import backend_of

_SEED_LIMIT: Final = 2**64
_STATE: Final = struct.Struct("<QQ")
_BLOCK: Final = 4
_THREADS: Final = 256
_MOST_THREADS_AT_ONCE: Final = 2**20

# Source: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, "Parallel random numbers:
# as easy as 1, 2, 3", SC '11: Philox4x32 with ten rounds.
_ROUNDS: Final = 10
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_LOW: Final = 0xFFFFFFFF

_KERNEL: Final = r"""
extern "C" __global__ void philox_words(
    unsigned int* __restrict__ words, long long count,
    unsigned long long seed, unsigned long long offset)
{
    const long long stride = (long long)gridDim.x * blockDim.x;
    const long long blocks = (count + 3) / 4;
    long long block = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    for (; block < blocks; block += stride) {
        const unsigned long long counter = offset + (unsigned long long)block;
        unsigned int a = (unsigned int)counter;
        unsigned int b = (unsigned int)(counter >> 32);
        unsigned int c = 0u;
        unsigned int d = 0u;
        unsigned int key = (unsigned int)seed;
        unsigned int other_key = (unsigned int)(seed >> 32);
        for (int round = 0; round < 10; round++) {
            const unsigned long long first = 0xD2511F53ull * a;
            const unsigned long long second = 0xCD9E8D57ull * c;
            a = (unsigned int)(second >> 32) ^ b ^ key;
            b = (unsigned int)second;
            c = (unsigned int)(first >> 32) ^ d ^ other_key;
            d = (unsigned int)first;
            key += 0x9E3779B9u;
            other_key += 0xBB67AE85u;
        }
        const unsigned int drawn[4] = {a, b, c, d};
        for (int i = 0; i < 4 && 4 * block + i < count; i++) {
            words[4 * block + i] = drawn[i];
        }
    }
}
"""


@final
class Philox:
    """State of a counter-based generator.

    Parameters
    ----------
    seed : int, optional
        From ``-2**63`` to ``2**64 - 1``.
    device : str, optional
        The type of the device on which words are computed.

    Attributes
    ----------
    device : str
    offset : int
        How many blocks of four words were used.
    lock : threading.Lock
        Held while the state is read or advanced.

    Examples
    --------
    >>> Philox(0, "cpu").words(2).tolist()
    [1713891541, 3781805453]
    """

    __slots__ = ("_seed", "device", "lock", "offset")

    name = "philox"

    def __init__(self, seed: int = 67280421310721, device: str = "cuda") -> None:
        self.lock = threading.Lock()
        self.device = device
        self._seed = 0
        self.offset = 0
        self.manual_seed(seed)

    @property
    def initial_seed(self) -> int:
        """The seed of the stream, as an unsigned 64-bit number."""
        return self._seed

    @property
    def namespace(self) -> Any:
        """NumPy, or what computes like it on the device."""
        return backend_of(self.device).namespace

    def manual_seed(self, seed: int) -> None:
        """Start the stream of `seed` anew.

        Raises
        ------
        ValueError
            If `seed` does not fit 64 bits.
        """
        if not -_SEED_LIMIT // 2 <= seed < _SEED_LIMIT:
            raise ValueError(
                f"a seed is from -2**63 to 2**64 - 1, but {seed} was given"
            )
        self._seed = seed % _SEED_LIMIT
        self.offset = 0

    def seed(self) -> int:
        """Start the stream of an unpredictable seed, and return that."""
        self.manual_seed(int.from_bytes(os.urandom(8), "little"))
        return self._seed

    def words(self, count: int) -> Any:
        """Draw uint32 words; whole blocks are used up.

        Returns
        -------
        array of uint32, shape (count,)
        """
        with self.lock:
            start = self.offset
            self.offset += -(-count // _BLOCK)
        xp = self.namespace
        if xp is np:
            return _host_words(self._seed, start, count)
        found = xp.empty(count, xp.uint32)
        threads = min(-(-count // _BLOCK), _MOST_THREADS_AT_ONCE)
        if threads:
            xp.RawKernel(_KERNEL, "philox_words", ("--std=c++17",))(
                (-(-threads // _THREADS),),
                (_THREADS,),
                (found, np.int64(count), np.uint64(self._seed), np.uint64(start)),
            )
        return found

    def clone(self) -> Philox:
        """Return another engine in the same state."""
        copied = Philox(self._seed, self.device)
        copied.offset = self.offset
        return copied

    def get_state(self) -> Any:
        """Return the state: seed and offset, as 16 bytes.

        Returns
        -------
        ndarray of uint8, shape (16,)
        """
        return np.frombuffer(_STATE.pack(self._seed, self.offset), np.uint8).copy()

    def set_state(self, state: Any) -> None:
        """Go to a state that `get_state` returned.

        Raises
        ------
        ValueError
            If `state` is no array of 16 bytes.
        """
        if state.dtype != np.uint8 or state.shape != (_STATE.size,):
            raise ValueError(
                f"the state of a generator on {self.device} is an array of "
                f"{_STATE.size} bytes (uint8), but shape {state.shape} of "
                f"{state.dtype} was given"
            )
        self._seed, self.offset = _STATE.unpack(state.tobytes())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Philox):
            return NotImplemented
        mine = (self._seed, self.offset, self.device)
        return mine == (other._seed, other.offset, other.device)

    def __reduce__(self) -> Any:
        return _restored, (self._seed, self.offset, self.device)

    def __repr__(self) -> str:
        return f"Philox(seed={self._seed}, offset={self.offset})"


def _restored(seed: int, offset: int, device: str) -> Philox:
    engine = Philox(seed, device)
    engine.offset = offset
    return engine


def _host_words(seed: int, start: int, count: int) -> Any:
    """Return what the kernel computes, by NumPy: its definition."""
    blocks = -(-count // _BLOCK)
    counter = np.arange(blocks, dtype=np.uint64) + np.uint64(start)
    a, b = counter & np.uint64(_LOW), counter >> np.uint64(32)
    c = d = np.zeros(blocks, np.uint64)
    keys = [seed & _LOW, seed >> 32]
    for _ in range(_ROUNDS):
        first, second = np.uint64(_MULTIPLIERS[0]) * a, np.uint64(_MULTIPLIERS[1]) * c
        a, b, c, d = (
            (second >> np.uint64(32)) ^ b ^ np.uint64(keys[0]),
            second & np.uint64(_LOW),
            (first >> np.uint64(32)) ^ d ^ np.uint64(keys[1]),
            first & np.uint64(_LOW),
        )
        keys = [(k + s) & _LOW for k, s in zip(keys, _KEY_STEPS, strict=True)]
    return np.stack([a, b, c, d], axis=1).astype(np.uint32).reshape(-1)[:count]

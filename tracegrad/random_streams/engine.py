"""The engine behind every CPU random stream: PyTorch's 32-bit Mersenne Twister.

The state is a value of 625 words, so that a captured program can take a snapshot of it
at every call; NumPy's generator does the drawing and keeps nothing between two draws.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
import threading
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_KEY_WORDS: Final = 624
_SEED_LIMIT: Final = 2**64
# Below this many words the call of `Generator.integers` costs more than the wider
# words of `random_raw`.
_SMALL_DRAW: Final = 512

_HEADER: Final = struct.Struct("<QdBBH")
_COMPACT_BYTES: Final = _HEADER.size + 4 * _KEY_WORDS

# seed, left, seeded, next | 624 words of 8 bytes | normal x, y, rho, y is valid | a
# float32 normal and its flag, which no CPU kernel of PyTorch uses.
_TORCH_HEADER: Final = struct.Struct("<QiiQ")
_TORCH_TRAILER: Final = struct.Struct("<dddi4xf?3x")
_TORCH_KEY_END: Final = _TORCH_HEADER.size + 8 * _KEY_WORDS
_TORCH_BYTES: Final = _TORCH_KEY_END + _TORCH_TRAILER.size


class _Worker(threading.local):
    """One NumPy Mersenne Twister per thread, its state mapped as an array.

    `bit_generator.state` builds a dictionary word by word (30 µs); the address that
    NumPy publishes for C callers lets a state be put in and taken out in 0.3 µs.
    """

    def __init__(self) -> None:
        self.bit_generator = np.random.MT19937(0)
        self.generator = np.random.Generator(self.bit_generator)
        self.legacy = np.random.RandomState(self.bit_generator)
        address = self.bit_generator.ctypes.state_address
        memory = (ctypes.c_uint32 * (_KEY_WORDS + 1)).from_address(address)
        self.words: NDArray[np.uint32] = np.ctypeslib.as_array(memory)
        self._check_layout()

    def _check_layout(self) -> None:
        published: Any = self.bit_generator.state["state"]
        expected = np.append(published["key"], np.uint32(published["pos"]))
        if not np.array_equal(self.words, expected):
            raise RuntimeError(
                f"NumPy {np.__version__} keeps the state of its MT19937 in a layout "
                "that tracegrad does not know (expected: 624 words and the position); "
                "use NumPy 2.0 to 2.4 and report this"
            )


@functools.cache
def _worker() -> _Worker:
    """Return the threads' workers; `numpy.random` loads with the first draw."""
    return _Worker()


@final
class MT19937:
    """State of PyTorch's CPU generator: a Mersenne Twister and a cached normal.

    The words drawn, and the state after them, are those of ``torch.Generator("cpu")``
    seeded alike. Draw routines hold `lock` for the whole draw, as PyTorch's kernels do;
    a caller of `words` holds it too if other threads may draw.

    Parameters
    ----------
    seed : int, optional
        As in `manual_seed`.

    Attributes
    ----------
    lock : threading.Lock
        Held while the state is read or advanced.
    cached_normal : float or None
        The sine half of the last pair of normals, if it was not used yet.

    Notes
    -----
    Only the low 32 bits of a seed reach the state, as in PyTorch: seeds that differ by
    a multiple of ``2**32`` give the same stream.

    Source: M. Matsumoto and T. Nishimura, "Mersenne Twister: a 623-dimensionally
    equidistributed uniform pseudo-random number generator", ACM TOMACS 8(1), 1998;
    seeding by the authors' ``init_genrand`` of 2002.

    Examples
    --------
    >>> MT19937(0).words(2).tolist()
    [2357136044, 2546248239]
    """

    __slots__ = ("_fresh", "_seed", "_state", "cached_normal", "lock")

    name = "mt19937"

    def __init__(self, seed: int = 67280421310721) -> None:
        self.lock = threading.Lock()
        self.cached_normal: float | None = None
        self._state: NDArray[np.uint32] | None = None
        self._seed = 0
        self._fresh = True
        self.manual_seed(seed)

    @property
    def _words(self) -> NDArray[np.uint32]:
        """The key and the position in it, made from the seed when first asked for."""
        if self._state is None:
            worker = _worker()
            worker.legacy.seed(self._seed & 0xFFFFFFFF)
            self._state = worker.words.copy()
        return self._state

    @property
    def initial_seed(self) -> int:
        """The seed that the stream started from, as an unsigned 64-bit number."""
        return self._seed

    def manual_seed(self, seed: int) -> None:
        """Start the stream of `seed` anew.

        Parameters
        ----------
        seed : int
            From ``-2**63`` to ``2**64 - 1``; a negative one stands for
            ``2**64 + seed``.

        Raises
        ------
        ValueError
            If `seed` does not fit into 64 bits.
        """
        if not -(2**63) <= seed < _SEED_LIMIT:
            raise ValueError(
                f"manual_seed got {seed}, which does not fit into 64 bits: pass an int "
                "from -2**63 to 2**64 - 1"
            )
        with self.lock:
            self._seed = int(seed) % _SEED_LIMIT
            self._state = None
            self._fresh = True
            self.cached_normal = None

    def seed(self) -> int:
        """Start the stream of a seed taken from the operating system.

        Returns
        -------
        int
            The seed, of 53 bits as PyTorch's.
        """
        seed = int.from_bytes(os.urandom(8), "little") & (2**53 - 1)
        self.manual_seed(seed)
        return seed

    def words(self, count: int) -> NDArray[np.uint32]:
        """Draw the next `count` words of 32 bits.

        Parameters
        ----------
        count : int
            How many words.

        Returns
        -------
        ndarray of uint32, shape (count,)
            A fresh array that the caller may overwrite.
        """
        if count == 0:
            return np.empty(0, np.uint32)
        worker = _worker()
        worker.words[:] = self._words
        if count < _SMALL_DRAW:
            drawn = worker.bit_generator.random_raw(count).astype(np.uint32)
        else:
            drawn = worker.generator.integers(0, 2**32, count, np.uint32)
        self._words[:] = worker.words
        self._fresh = False
        return drawn

    def clone(self) -> MT19937:
        """Return an independent engine in the same state.

        Returns
        -------
        MT19937
        """
        with self.lock:
            return self.twin()

    def twin(self) -> MT19937:
        """Do as `clone`, for a routine that holds the lock."""
        twin = object.__new__(MT19937)
        twin.lock = threading.Lock()
        twin.cached_normal = self.cached_normal
        twin._seed = self._seed
        twin._fresh = self._fresh
        twin._state = self._words.copy()
        return twin

    def get_state(self) -> NDArray[np.uint8]:
        """Return the state in tracegrad's compact layout.

        Returns
        -------
        ndarray of uint8, shape (2516,)
            Seed, cached normal, two flags, position, and the 624 words of the key,
            little-endian.
        """
        state = np.empty(_COMPACT_BYTES, np.uint8)
        with self.lock:
            normal = self.cached_normal
            _HEADER.pack_into(
                state.data,
                0,
                self._seed,
                0.0 if normal is None else normal,
                normal is not None,
                self._fresh,
                int(self._words[_KEY_WORDS]),
            )
            state[_HEADER.size :].view("<u4")[:] = self._words[:_KEY_WORDS]
        return state

    def get_torch_state(self) -> NDArray[np.uint8]:
        """Return the state as the bytes of ``torch.Generator.get_state``.

        Returns
        -------
        ndarray of uint8, shape (5056,)
        """
        state = np.zeros(_TORCH_BYTES, np.uint8)
        with self.lock:
            position = 0 if self._fresh else int(self._words[_KEY_WORDS])
            left = 1 if self._fresh else _KEY_WORDS + 1 - position
            normal = self.cached_normal
            _TORCH_HEADER.pack_into(state.data, 0, self._seed, left, 1, position)
            key = state[_TORCH_HEADER.size : _TORCH_KEY_END]
            key.view("<u8")[:] = self._words[:_KEY_WORDS]
        y = 0.0 if normal is None else normal
        _TORCH_TRAILER.pack_into(
            state.data, _TORCH_KEY_END, 0.0, y, 0.0, normal is not None, 0.0, False
        )
        return state

    def set_state(self, state: NDArray[np.uint8]) -> None:
        """Go to a state that `get_state`, `get_torch_state` or PyTorch returned.

        Parameters
        ----------
        state : ndarray of uint8, shape (2516,) or (5056,)
            The length says which layout it is.

        Raises
        ------
        ValueError
            If `state` is no array of bytes of one of these lengths, or if its position
            is impossible.
        """
        if state.dtype == np.uint8 and state.shape == (_COMPACT_BYTES,):
            self._set_compact(np.ascontiguousarray(state))
        elif state.dtype == np.uint8 and state.shape == (_TORCH_BYTES,):
            self._set_torch(np.ascontiguousarray(state))
        else:
            raise ValueError(
                f"a generator state is an array of {_COMPACT_BYTES} or {_TORCH_BYTES} "
                f"bytes (uint8), but shape {state.shape} of {state.dtype} was given: "
                "pass what get_state returned"
            )

    @classmethod
    def from_state(cls, state: NDArray[np.uint8]) -> MT19937:
        """Return a new engine in the given state, as `set_state` reads it."""
        engine = cls(0)
        engine.set_state(state)
        return engine

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MT19937):
            return NotImplemented
        return (
            self._seed == other._seed
            and self._fresh == other._fresh
            and self.cached_normal == other.cached_normal
            and np.array_equal(self._words, other._words)
        )

    def __reduce__(self) -> tuple[Any, tuple[NDArray[np.uint8]]]:
        return MT19937.from_state, (self.get_state(),)

    def __repr__(self) -> str:
        return f"MT19937(seed={self._seed})"

    def _set_compact(self, state: NDArray[np.uint8]) -> None:
        seed, normal, has_normal, fresh, position = _HEADER.unpack_from(state.data)
        key = state[_HEADER.size :].view("<u4")
        self._assign(seed, normal if has_normal else None, bool(fresh), position, key)

    def _set_torch(self, state: NDArray[np.uint8]) -> None:
        seed, left, seeded, position = _TORCH_HEADER.unpack_from(state.data)
        _, normal, _, has_normal, *_ = _TORCH_TRAILER.unpack_from(
            state.data, _TORCH_KEY_END
        )
        fresh = position == 0 and left == 1
        if not seeded or not (fresh or left == _KEY_WORDS + 1 - position):
            raise ValueError(
                f"the state of 5056 bytes has seeded={seeded}, left={left} and "
                f"next={position}, which no generator reaches (left + next is 625, or "
                "1 and 0 after seeding): pass what torch.get_rng_state returned"
            )
        key = state[_TORCH_HEADER.size : _TORCH_KEY_END].view("<u8")
        start = _KEY_WORDS if fresh else position
        self._assign(seed, normal if has_normal else None, fresh, start, key)

    def _assign(
        self,
        seed: int,
        normal: float | None,
        fresh: bool,
        position: int,
        key: NDArray[Any],
    ) -> None:
        if position > _KEY_WORDS:
            raise ValueError(
                f"the state's position is {position}, but a key has {_KEY_WORDS} "
                "words: pass what get_state returned"
            )
        with self.lock:
            self._seed = seed
            self.cached_normal = normal
            self._fresh = fresh
            self._words[:_KEY_WORDS] = key
            self._words[_KEY_WORDS] = position

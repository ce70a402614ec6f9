"""How kernels are compiled. Imported with the kernels only, since importing numba takes a second."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core import types
from numba.extending import intrinsic

_Function = TypeVar("_Function", bound=Callable[..., object])


def compiled(function: _Function) -> _Function:
    """Compiled on first call, kept on disk where numba finds a writable folder, without the interpreter's lock."""
    try:
        return cast(_Function, numba.njit(cache=True, nogil=True)(function))
    except RuntimeError:  # no folder to keep it in
        return cast(_Function, numba.njit(nogil=True)(function))


def _bits_set(_context: Any, word: Any) -> Any:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.int64(word), generate


# The number of ones in a word of 64 bits: one instruction, which numba has no function for.
bits_set = cast(Callable[[np.uint64], int], intrinsic(_bits_set))

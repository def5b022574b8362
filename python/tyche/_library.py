"""The C interface (include/tyche.h) through ctypes: handles, options, arrays, errors.

Nothing here knows graphs. A call is ``handle("tyche_wl", a, 0, b, 0, options(dim=2))``: its status becomes an exception,
its out-parameter a Handle that frees itself. The GIL is released while the library works; a call made with ``stoppable``
runs beside the main thread, so that Ctrl-C reaches it.
"""
from __future__ import annotations

import ctypes
import json
import os
import pathlib
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional, Tuple, TypeVar

import numpy as np

from ._errors import InputError, InternalError, IoError, UnknownOptionError

if TYPE_CHECKING:
    from numpy.typing import NDArray  # takes as long to import as the rest of this module

ABI = 1
T = TypeVar("T")


class Array(ctypes.Structure):
    """struct tyche_array."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("type", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("shape", ctypes.c_uint64 * 2),
    ]


class Graphs(ctypes.Structure):
    """struct tyche_graphs."""

    _fields_ = [
        ("size", ctypes.c_uint64),
        ("graphs", ctypes.c_uint64),
        ("nodes", ctypes.c_uint64),
        ("edges", ctypes.c_uint64),
        ("node_ptr", ctypes.c_void_p),
        ("edge_ptr", ctypes.c_void_p),
        ("from_", ctypes.c_void_p),
        ("to", ctypes.c_void_p),
        ("both_ways", ctypes.c_int32),
        ("attribute_columns", ctypes.c_int32),
        ("types", ctypes.c_void_p),
        ("attributes", ctypes.c_void_p),
        ("labels", ctypes.c_void_p),
        ("edge_labels", ctypes.c_void_p),
        ("edge_attributes", ctypes.c_void_p),
        ("targets", ctypes.c_void_p),
        ("edge_attribute_columns", ctypes.c_int32),
        ("target_columns", ctypes.c_int32),
        ("name", ctypes.c_char_p),
    ]


EPOCH = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p)
_H = ctypes.c_uint64
_S = ctypes.c_char_p
_OUT = ctypes.POINTER(ctypes.c_uint64)
_SIGNATURES: Dict[str, List[Any]] = {
    "tyche_about": [_OUT],
    "tyche_free": [_H],
    "tyche_info": [_H, ctypes.POINTER(ctypes.c_char_p), ctypes.POINTER(ctypes.c_uint64)],
    "tyche_array_of": [_H, _S, ctypes.POINTER(Array)],
    "tyche_set_from_arrays": [ctypes.POINTER(Graphs), _OUT],
    "tyche_set_read": [_S, _S, _OUT],
    "tyche_set_parse": [_S, ctypes.c_uint64, _S, _S, _OUT],
    "tyche_set_write": [_H, _S, _S],
    "tyche_pack": [_S, _S, _S, _OUT],
    "tyche_set_pairs": [_S, _S, _OUT],
    "tyche_generate": [_S, _S, _S, _OUT],
    "tyche_set_select": [_H, ctypes.c_void_p, ctypes.c_uint64, _OUT],
    "tyche_set_relabel": [_H, ctypes.c_void_p, ctypes.c_uint64, _OUT],
    "tyche_set_retarget": [_H, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, _OUT],
    "tyche_set_node_values": [_H, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64, ctypes.c_void_p,
                              ctypes.c_uint64, _OUT],
    "tyche_set_weigh": [_H, _OUT],
    "tyche_set_categorise": [_H, ctypes.c_uint64, ctypes.c_uint64, _OUT],
    "tyche_graph6": [_H, ctypes.c_uint64, _OUT],
    "tyche_draw": [_H, ctypes.c_uint64, _OUT],
    "tyche_certify": [_H, _S, _OUT],
    "tyche_certify_file": [_S, _S, _OUT],
    "tyche_inspect": [_H, _S, _OUT],
    "tyche_compare": [_H, _S, _S, _OUT],
    "tyche_wl": [_H, ctypes.c_uint64, _H, ctypes.c_uint64, _S, _OUT],
    "tyche_wl_pairs": [_H, _S, _OUT],
    "tyche_wl_groups": [_H, _S, _OUT],
    "tyche_colours": [_H, _S, _OUT],
    "tyche_count": [_H, _S, _OUT],
    "tyche_individualise": [_H, _S, _OUT],
    "tyche_random_columns": [_H, _S, ctypes.c_void_p, ctypes.c_uint64, _OUT],
    "tyche_train": [_H, _S, _S, EPOCH, ctypes.c_void_p, _OUT],
    "tyche_trained_model": [_H, ctypes.c_uint64, _OUT],
    "tyche_model_read": [_S, _OUT],
    "tyche_model_write": [_H, _S],
    "tyche_model_write_with": [_H, _S, _S],
    "tyche_predict": [_H, _H, _S, _OUT],
    "tyche_embed": [_H, _H, _S, _OUT],
    "tyche_explain": [_H, _H, ctypes.c_uint64, _S, _OUT],
    "tyche_export": [_S, _S, _S],
    "tyche_distinguish": [_H, _S, _OUT],
    "tyche_theory_check": [_S, _H, ctypes.c_uint64, _OUT],
    "tyche_theory_compile": [_S, _S, _H, ctypes.c_uint64, _OUT],
    "tyche_theory_approximate": [_S, _OUT],
    "tyche_report": [_S, _S, _OUT],
}
_DTYPES = {1: np.int32, 2: np.int64, 3: np.uint32, 4: np.uint64, 5: np.float32, 6: np.float64}


def _path() -> pathlib.Path:
    """Where the shared library is: $TYCHE_LIBRARY, else in the package."""
    named = os.environ.get("TYCHE_LIBRARY")
    return pathlib.Path(named) if named else pathlib.Path(__file__).parent / "_lib" / "libtyche_c.so"


def _load() -> ctypes.CDLL:
    path = _path()
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(
            f"tyche cannot load its library {path}: {error}. Install the wheel (script/wheel, pip install .), or set "
            "TYCHE_LIBRARY to a libtyche_c.so"
        ) from error
    library.tyche_abi.restype = ctypes.c_int
    library.tyche_version.restype = ctypes.c_char_p
    library.tyche_error_message.restype = ctypes.c_char_p
    library.tyche_error_graph.restype = ctypes.c_int64
    library.tyche_interrupt.restype = None
    library.tyche_live_handles.restype = ctypes.c_uint64
    if library.tyche_abi() != ABI:
        raise ImportError(f"{path} speaks version {library.tyche_abi()} of the C interface; this module speaks {ABI}")
    for name, arguments in _SIGNATURES.items():
        function = getattr(library, name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    return library


_library = _load()


def version() -> str:
    """Of the library: "0.3.0"."""
    return str(_library.tyche_version().decode())


def live_handles() -> int:
    """How many things of the library are in use."""
    return int(_library.tyche_live_handles())


def _check(status: int) -> None:
    """Raises what a call's status says. In the thread of the call."""
    if status == 0:
        return
    message = _library.tyche_error_message().decode("utf-8", "replace")
    graph = int(_library.tyche_error_graph())
    if status == 1 and message.startswith("there is no option '"):
        raise UnknownOptionError(message)
    if status == 1:
        raise InputError(message, None if graph < 0 else graph)
    if status == 2:
        raise IoError(message)
    if status == 3:
        raise KeyboardInterrupt(message)
    if status == 6:
        raise MemoryError(message)
    raise InternalError(message)


def _beside_main(work: Callable[[], T], stop: Callable[[], None]) -> T:
    """work() in a thread of its own, so that this one can hear Ctrl-C (or what another signal's handler raises); then it
    asks it to stop, and waits.

    It always waits: a thread left behind in the library would come back to an interpreter that may be gone. Another
    Ctrl-C asks everything in the library to end, wherever it is. It asks again until the thread is done: a call that was
    only about to begin has not heard the first time.
    """
    if threading.current_thread() is not threading.main_thread():
        return work()
    done = threading.Event()
    result: List[T] = []
    failure: List[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:  # noqa: B036 - handed over to the caller's thread
            failure.append(error)
        finally:
            done.set()

    thread = threading.Thread(target=run, name="tyche", daemon=True)
    pressed: List[BaseException] = []
    while not done.is_set():
        try:
            if thread.ident is None:
                thread.start()
            while not done.wait(0.2 if pressed else None):
                (interrupt if len(pressed) > 1 else stop)()
        except BaseException as error:  # noqa: B036 - raised when the thread is done
            if thread.ident is None:
                raise
            (interrupt if pressed else stop)()
            pressed.append(error)
    if pressed:
        raise pressed[0]
    if failure:
        raise failure[0]
    return result[0]


def interrupt() -> None:
    """Asks all calls of the library that are under way to end."""
    _library.tyche_interrupt()


def call(name: str, *arguments: Any, stoppable: bool = False, stop: Callable[[], None] = interrupt) -> None:
    """Calls a function that gives nothing back."""

    def work() -> None:
        _check(getattr(_library, name)(*arguments))

    _beside_main(work, stop) if stoppable else work()


class Handle:
    """Something of the library's; freed with the object. Calls take the object, which lives as long as they do."""

    __slots__ = ("value", "_as_parameter_", "__weakref__")

    def __init__(self, value: int) -> None:
        self.value = value
        self._as_parameter_ = value

    def __del__(self) -> None:
        library = globals().get("_library")
        if library is not None:
            library.tyche_free(self.value)

    def info(self) -> Any:
        """Its JSON, read."""
        text = ctypes.c_char_p()
        call("tyche_info", self, ctypes.byref(text), None)
        return json.loads((text.value or b"null").decode("utf-8", "replace"))

    def array(self, name: str) -> NDArray[Any]:
        """A read-only view of an array of the library's, which lives as long as the view."""
        out = Array()
        call("tyche_array_of", self, name.encode(), ctypes.byref(out))
        shape: Tuple[int, ...] = tuple(int(n) for n in out.shape[: out.dimensions])
        view = np.asarray(_Memory(self, out.data, np.dtype(_DTYPES[out.type]), shape))
        view.flags.writeable = False
        return view


class _Memory:
    """Memory of the library as NumPy takes it over; the view's base, and so what keeps the handle."""

    def __init__(self, owner: Handle, address: Optional[int], dtype: np.dtype[Any], shape: Tuple[int, ...]) -> None:
        self.owner = owner
        empty = address is None or 0 in shape
        self._nothing = np.empty(1, dtype) if empty else None
        at = self._nothing.ctypes.data if self._nothing is not None else address
        self.__array_interface__ = {"version": 3, "typestr": dtype.str, "shape": shape, "data": (at, True)}


def handle(name: str, *arguments: Any, stoppable: bool = False, stop: Callable[[], None] = interrupt) -> Handle:
    """Calls a function whose last parameter takes a handle."""
    out = ctypes.c_uint64()
    call(name, *arguments, ctypes.byref(out), stoppable=stoppable, stop=stop)
    return Handle(out.value)


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's."""
    if isinstance(value, (np.integer, np.floating, np.bool_)):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "to_toml"):  # a Network
        return value.to_toml()
    raise InputError(f"{value!r} is no value of an option: expected a number, text, True or False, or a list")


def options(**values: Any) -> bytes:
    """Options as the library reads them; None is as if it were not there."""
    given = {name: value for name, value in values.items() if value is not None}
    for name, value in given.items():
        if isinstance(value, (float, np.floating)) and not np.isfinite(value):
            raise InputError(f"{name}: expected a finite number, found {value}")
    return json.dumps(given, default=_plain).encode()


def path_bytes(path: Any) -> bytes:
    """A path as the library takes it."""
    out = os.fsencode(path)
    if b"\0" in out:
        raise InputError(f"{path!r} is no path: it has a zero byte in it")
    return out


def text_bytes(text: Any, what: str) -> bytes:
    """Text as the library takes it."""
    if not isinstance(text, str):
        raise InputError(f"{what}: expected text, found {text!r}")
    out = text.encode("utf-8", "backslashreplace")
    if b"\0" in out:
        raise InputError(f"{what}: there is a zero byte in {text!r}")
    return out


def pointer(array: Optional[NDArray[Any]]) -> Optional[int]:
    """Where an array's numbers are; None where there is none. Keep the array while the library looks at it."""
    return None if array is None else int(array.ctypes.data)

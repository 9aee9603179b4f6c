"""The arguments of a call: all of them valid, apart from those that a case replaces."""

from __future__ import annotations

import ctypes
import queue
from typing import Any

from facts import EXAMPLES, LEFT_OUT, end_of
from header import Function, Header, Struct, Type
from hostile import AnotherHandle, Case, Path, Place, Value, input_struct, output_struct, read_fields, valid_value
from library import ROOM, Library, address, c_type
from ways import CALLBACKS as WITH_CALLBACKS
from ways import Way, ways_for

UNWRITTEN = b"\x5a" * ROOM
"""What stands wherever the library may write its result, unless a test wants something else there."""


CALLBACKS: list[Any] = []
"""All callbacks, kept alive to the end: the thread of a client may call one after a call has returned."""


def makers(header: Header, handle: str) -> list[Function]:
    """The functions that make such a handle, but not of another one."""
    wanted, other = Type(handle, 2), Type(handle, 1)
    found = [f for f in header.functions.values() if f.parameters and f.parameters[-1].type == wanted]
    return [f for f in found if all(parameter.type != other for parameter in f.parameters)]


def make_token_request(library: Library) -> int:
    """A request that waits for its answer, retained once. Its source is never freed, which would end it."""
    requests: queue.SimpleQueue[int] = queue.SimpleQueue()

    def provide(context: int | None, request: int) -> None:
        library.call("boxretry_token_request_retain", request)
        requests.put(request)

    provider = library.callback("boxretry_token_options", "provider", provide)
    on_token = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)(lambda *_: None)
    CALLBACKS.extend((provider, on_token))
    options = library.struct("boxretry_token_options", provider=address(provider))
    source = library.new("boxretry_token_source_new", ctypes.addressof(options))
    answer = library.call("boxretry_token_source_get_async", source, None, address(on_token), None)
    assert answer == "BOXRETRY_OK"
    return requests.get()


class Arguments:
    """Valid arguments for calls of one function.

    `variant` chooses among the ways to make a handle, `way` among those to fill in a request that is sent. `handles`
    are there already, and are neither made nor freed.
    """

    def __init__(
        self,
        library: Library,
        function: Function,
        variant: int = 0,
        way: Way | None = None,
        handles: dict[str, int] | None = None,
    ) -> None:
        self.library = library
        self.function = function
        self.out: Any = None  # the memory for the result
        self.blank = UNWRITTEN  # the content before a call; a struct_size stays
        self.has_written = False  # the last call, to that memory
        self.values: list[Any] = [None] * len(function.parameters)
        self._variant = variant
        self._way = way or (WITH_CALLBACKS if WITH_CALLBACKS in ways_for(function) else ways_for(function)[0])
        self._handles = handles or {}
        self._containers: dict[Path, tuple[Any, Any]] = {}  # where a value stands: a list or a struct, and its key
        self._makers: dict[str, Arguments] = {}
        self._made: list[tuple[str, int]] = []
        self._changed: list[tuple[int, str]] = []  # handles that are no longer the same after the call
        self._is_prepared = False
        self._alive: list[Any] = []
        self._texts: dict[bytes, int] = {}
        for index, parameter in enumerate(function.parameters):
            self._containers[(parameter.name,)] = (self.values, index)
            self.values[index] = self._valid(Place((parameter.name,), f"{function.name}.{parameter.name}", parameter))
            if parameter.type in [Type(handle, 1) for handle in library.header.handles]:
                self._changed.append((index, parameter.type.name))

    def call(self, case: Case = ()) -> Any:
        """Calls the function, and leaves the arguments as they were. Handles that it changes are fresh each time."""
        undo: list[tuple[Any, Any, Any]] = []
        self.prepare()
        self._is_prepared = False
        fresh = [(handle, self.values[index]) for index, handle in self._changed]
        for override in case:
            container, key = self._containers[override.place.path]
            undo.append((container, key, _get(container, key)))
            _set(container, key, self._raw(override.value))
        if self.out is not None:
            size = self._containers.get((self.function.parameters[-1].name, "struct_size"))
            kept = size[0].struct_size if size else None
            self.out[:] = self.blank
            if size:
                size[0].struct_size = kept
        before = bytes(self.out) if self.out is not None else b""
        answer = self.library.call(self.function.name, *self.values)
        self.has_written = self.out is not None and bytes(self.out) != before
        for handle, pointer in fresh:
            was_freed = self.function.name == end_of(handle) and not case
            if not was_freed and handle not in self._handles:
                self.library.call(end_of(handle), pointer)
        for container, key, value in reversed(undo):
            _set(container, key, value)
        return answer

    def prepare(self) -> None:
        """Makes the handles that the next call changes; it does so itself, but where it runs that may be forbidden."""
        if not self._is_prepared:
            for index, handle in self._changed:
                self.values[index] = self.make(handle)
        self._is_prepared = True

    def make(self, handle: str) -> int:
        """A new handle, which the caller frees; or the one that is there."""
        if handle in self._handles:
            return self._handles[handle]
        if handle == "boxretry_token_request":
            return make_token_request(self.library)
        if handle not in self._makers:
            options = makers(self.library.header, handle)
            maker = Arguments(self.library, options[self._variant % len(options)], self._variant)
            if handle == "boxretry_client" and self.function.name == "boxretry_client_drive":
                container, key = maker._containers["options", "threads"]
                _set(container, key, self.library.header.constants["BOXRETRY_THREADS_NONE"])
            self._makers[handle] = maker
        maker = self._makers[handle]
        answer = maker.call()
        assert answer == "BOXRETRY_OK", f"{maker.function.name} with valid arguments: {answer}: {self.library.detail}"
        return maker.result

    @property
    def result(self) -> int:
        """The handle that the last call wrote."""
        return ctypes.c_void_p.from_buffer(self.out).value or 0

    def struct_at(self, path: Path) -> Any:
        """The struct behind a parameter, or behind a field of such a struct."""
        return self._containers[(*path, "struct_size")][0]

    def free_result(self) -> None:
        """Frees the handle that the last call wrote, if it was one."""
        last = self.function.parameters[-1].type if self.function.parameters else Type("void")
        if last.pointers == 2 and self.has_written:
            self.library.call(end_of(last.name), self.result)

    def close(self) -> None:
        """Frees all handles in the arguments."""
        for handle, pointer in self._made:
            self.library.call(end_of(handle), pointer)
        for maker in self._makers.values():
            maker.close()

    # What is valid

    def _valid(self, place: Place) -> Any:
        type = place.what.type
        if type.parameters is not None:
            return self._callback(type)
        if type.pointers == 0:
            if place.key == f"{self.function.name}.struct_size":  # of an _init function
                return ctypes.sizeof(self.library.structs[self.function.parameters[0].type.name])
            return valid_value(place, self._way)
        if place.key in LEFT_OUT:
            return None
        if type.pointers == 1 and type.name == "char":
            text = valid_value(place, self._way)
            assert isinstance(text, bytes)
            return self._text(text)
        if type.pointers == 1 and type.name in self.library.header.handles:
            return self._handle(type.name)
        if type.name == "void":
            return self._text(b"body")
        struct = input_struct(self.library.header, place.what)
        return self._struct(struct, place.path) if struct else self._output(place)

    def _handle(self, handle: str) -> int:
        pointer = self.make(handle)
        if handle not in self._handles:
            self._made.append((handle, pointer))
        return pointer

    def _output(self, place: Place) -> int:
        self.out = ctypes.create_string_buffer(UNWRITTEN, ROOM)
        written = output_struct(self.library.header, place.what)
        if written and written.is_sized and not self.function.name.endswith("_init"):
            struct = self.library.structs[written.name].from_buffer(self.out)
            struct.struct_size = ctypes.sizeof(struct)
            self._containers[(*place.path, "struct_size")] = (struct, "struct_size")
        return ctypes.addressof(self.out)

    def _struct(self, struct: Struct, path: Path) -> int:
        """All defaults, with something behind each pointer."""
        value = self._keep(self.library.struct(struct.name))
        for place in read_fields(self.function, struct, path, self._way):
            field = place.what
            self._containers[place.path] = (value, field.name)
            has_example = place.key in EXAMPLES or place.key in self._way.values
            if c_type(field.type) is ctypes.c_void_p or has_example:
                setattr(value, field.name, self._valid(place))
            if place.count:
                setattr(value, place.count, 1)
        return ctypes.addressof(value)

    def _callback(self, type: Type) -> int:
        """A callback that answers wherever an answer is asked for: 1, which is "retry" or one second; or a token."""
        assert type.parameters is not None
        last = type.parameters[-1].type
        writes = (
            None
            if last.const or last.name not in ("int32_t", "int64_t", "double")
            else ctypes.POINTER(c_type(last.pointee))
        )

        def call(*arguments: Any) -> None:
            if writes:
                ctypes.cast(arguments[-1], writes)[0] = 1
            elif last.name == "boxretry_token_request":
                self.library.call("boxretry_token_request_succeed", arguments[-1], self._text(b"token"), 5, 3600)
            elif last.name == "boxretry_token":
                self.library.call("boxretry_token_free", arguments[-1])

        parameters = [c_type(parameter.type) for parameter in type.parameters]
        callback = ctypes.CFUNCTYPE(None, *parameters)(call)
        CALLBACKS.append(callback)
        return address(callback)

    # What is not

    def _raw(self, value: Value) -> Any:
        """A value of a case as ctypes wants it."""
        if isinstance(value, bytes):
            return self._text(value)
        if isinstance(value, AnotherHandle):
            standing = [pointer for handle, pointer in self._made if handle == value.kind]
            return standing[0] if standing else self._handle(value.kind)
        return value

    def _text(self, text: bytes) -> int:
        if text not in self._texts:
            self._texts[text] = ctypes.addressof(self._keep(ctypes.create_string_buffer(text)))
        return self._texts[text]

    def _keep(self, value: Any) -> Any:
        self._alive.append(value)
        return value


def comparable(function: Function, answer: Any) -> Any:
    """An answer without what differs from call to call, and from process to process."""
    if function.result_handle:  # whether the call has ended already is chance
        return None
    # Descriptors, and time that passes.
    if function.name in ("boxretry_client_fd", "boxretry_queue_fd", "boxretry_token_expires_in"):
        return answer >= 0
    return without_address(function, answer)


def without_address(function: Function, answer: Any) -> Any:
    return "a pointer" if function.result.pointers and isinstance(answer, int) else answer


def _get(container: Any, key: Any) -> Any:
    return container[key] if isinstance(container, list) else getattr(container, key)


def _set(container: Any, key: Any, value: Any) -> None:
    if isinstance(container, list):
        container[key] = value
    else:
        setattr(container, key, value)

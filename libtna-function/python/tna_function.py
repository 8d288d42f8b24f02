# SPDX-License-Identifier: Apache-2.0
"""Network functions in user space, steered to by tnad: libtna-function (tna_function(3)) for Python.

    import tna_function

    with tna_function.Function("mirror") as function:
        while True:
            for frame in function.receive():
                data = frame.data                    # a memoryview of the frame's bytes, to be read and written
                data[0:6], data[6:12] = bytes(data[6:12]), bytes(data[0:6])
                function.send(frame, frame.port)     # or give_back(frame), drop(frame)

Nothing is copied. What is not sent, given back or dropped when receive() is called again, is dropped then. An object is for one
thread. OSError is raised for what tna_function(3) says is one, with its errno."""

import ctypes
import errno
import os

__all__ = ["Frame", "Function", "ALL_QUEUES"]

ALL_QUEUES = -1
_POLL, _BUSY = 0, 1


class _Frame(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_uint32), ("port", ctypes.c_uint16),
                ("queue", ctypes.c_uint16), ("id", ctypes.c_uint64)]


class _Options(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("socket", ctypes.c_char_p), ("queue", ctypes.c_int), ("wait", ctypes.c_int),
                ("gives_back", ctypes.c_int), ("reserved", ctypes.c_int)]


class _Counts(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("received", "sent", "given_back", "dropped", "lost", "invalid")]
    _fields_ += [("reserved", ctypes.c_uint64 * 10)]


def _load():
    library = ctypes.CDLL(os.environ.get("TNA_FUNCTION_LIBRARY", "libtna-function.so.0"), use_errno=True)
    object_, frame = ctypes.c_void_p, ctypes.POINTER(_Frame)
    for name, result, arguments in [
        ("open", ctypes.c_int, [ctypes.POINTER(object_), ctypes.c_char_p, ctypes.POINTER(_Options)]),
        ("close", None, [object_]),
        ("why", ctypes.c_char_p, [object_]),
        ("connections", ctypes.c_uint64, [object_]),
        ("receive", ctypes.c_int, [object_, frame, ctypes.c_uint, ctypes.c_int]),
        ("send", ctypes.c_int, [object_, frame, ctypes.c_uint]),
        ("give_back", ctypes.c_int, [object_, frame]),
        ("drop", None, [object_, frame]),
        ("new_frame", ctypes.c_int, [object_, frame]),
        ("room", ctypes.c_int, [object_, frame, ctypes.POINTER(ctypes.c_uint32), ctypes.POINTER(ctypes.c_uint32)]),
        ("flush", None, [object_]),
        ("ports", ctypes.c_uint, [object_]),
        ("port_name", ctypes.c_char_p, [object_, ctypes.c_uint]),
        ("count", None, [object_, ctypes.POINTER(_Counts)]),
    ]:
        call = getattr(library, "tna_function_" + name)
        call.restype, call.argtypes = result, arguments
    return library


class Frame:
    """A frame, the caller's until it is sent, given back or dropped."""

    __slots__ = ("_raw", "_function", "_open")

    def __init__(self, function, raw):
        self._raw, self._function, self._open = raw, function, True

    @property
    def port(self):
        """By which it came in, in the order of the declaration."""
        return self._raw.port

    @port.setter
    def port(self, port):
        self._raw.port = port

    @property
    def queue(self):
        return self._raw.queue

    @property
    def data(self):
        """Its bytes, in the function's memory."""
        self._function._check(self)
        return memoryview((ctypes.c_uint8 * self._raw.length).from_address(self._raw.data)).cast("B")

    @data.setter
    def data(self, content):
        """Other bytes, of any length that it has room for, from where it begins."""
        self._function._check(self)
        content = bytes(content)
        if len(content) > self._raw.length + self.room()[1]:
            raise ValueError("the frame has no room for %d bytes" % len(content))
        ctypes.memmove(self._raw.data, content, len(content))
        self._raw.length = len(content)

    def room(self):
        """How many bytes it can grow by, at its front and at its end."""
        return self._function._room(self)

    def move_front(self, by):
        """Takes so many bytes from its front, or puts as many there if it is negative, which are to be written."""
        if by > self._raw.length or -by > self.room()[0]:
            raise ValueError("the frame cannot begin %d bytes further" % by)
        self._raw.data += by
        self._raw.length -= by


class Function:
    """Connects as the function of this name, or waits for that in receive() where tnad is not there yet; one that `gives_back`
    does not connect while there is no way back to Linux."""

    def __init__(self, name, *, socket=None, queue=ALL_QUEUES, busy=False, gives_back=False, most=64):
        self._library = _load()
        self._pointer = ctypes.c_void_p()
        self._array = (_Frame * most)()
        self._lent = []
        options = _Options(ctypes.sizeof(_Options), os.fsencode(socket) if socket else None, queue, _BUSY if busy else _POLL,
                           gives_back, 0)
        error = self._library.tna_function_open(ctypes.byref(self._pointer), name.encode(), ctypes.byref(options))
        if error not in (0, -errno.EAGAIN):
            try:
                self._raise(error)
            finally:
                self.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Its frames are Linux's from now on."""
        if self._pointer:
            self._library.tna_function_close(self._pointer)
            self._pointer = ctypes.c_void_p()
        self._lent = []

    def receive(self, timeout=None):
        """Sends what is to be sent, and waits so many seconds (None: for ever) for frames: a list, empty when time is over or a
        signal has come."""
        for frame in self._lent:
            self.drop(frame)
        milliseconds = -1 if timeout is None else int(timeout * 1000)
        got = self._library.tna_function_receive(self._object(), self._array, len(self._array), milliseconds)
        if got < 0 and got != -errno.EINTR:
            self._raise(got)
        self._lent = [Frame(self, _Frame.from_buffer_copy(raw)) for raw in self._array[:max(got, 0)]]
        return list(self._lent)

    def send(self, frame, port):
        """False: there is no room, or it is one of an earlier connection; it is gone."""
        return self._leave(frame, lambda raw: self._library.tna_function_send(self._object(), raw, port))

    def give_back(self, frame):
        """To Linux, as if it had just come in by frame.port; False as with send()."""
        return self._leave(frame, lambda raw: self._library.tna_function_give_back(self._object(), raw))

    def drop(self, frame):
        if frame._open:
            frame._open = False
            self._library.tna_function_drop(self._object(), ctypes.byref(frame._raw))

    def new_frame(self, data, port=0):
        """A frame with these bytes, to be sent; None: there is no room for one now."""
        raw = _Frame()
        if self._library.tna_function_new_frame(self._object(), ctypes.byref(raw)) != 0:
            return None
        raw.port = port
        frame = Frame(self, raw)
        self._lent.append(frame)
        try:
            frame.data = data
        except ValueError:
            self.drop(frame)
            raise
        return frame

    def flush(self):
        """Sends now what has been handed to send() and give_back()."""
        self._library.tna_function_flush(self._object())

    @property
    def why(self):
        """Why it is not connected; "" if it is."""
        return self._library.tna_function_why(self._object()).decode()

    @property
    def connections(self):
        """How often it has been connected."""
        return self._library.tna_function_connections(self._object())

    @property
    def ports(self):
        """Their names, in the order of the declaration; None: it is not there now."""
        names = (self._library.tna_function_port_name(self._object(), port)
                 for port in range(self._library.tna_function_ports(self._object())))
        return [name and name.decode() for name in names]

    def counts(self):
        """What has become of frames, by name."""
        counts = _Counts()
        self._library.tna_function_count(self._object(), ctypes.byref(counts))
        return {name: getattr(counts, name) for name, _ in _Counts._fields_ if name != "reserved"}

    def _object(self):
        if not self._pointer:
            raise ValueError("the function is closed")
        return self._pointer

    def _check(self, frame):
        if not frame._open or frame._raw.id >> 32 != self.connections:
            raise ValueError("the frame is gone")

    def _room(self, frame):
        self._check(frame)
        front, end = ctypes.c_uint32(), ctypes.c_uint32()
        error = self._library.tna_function_room(self._object(), ctypes.byref(frame._raw), ctypes.byref(front), ctypes.byref(end))
        if error != 0:
            self._raise(error)
        return front.value, end.value

    def _leave(self, frame, call):
        if not frame._open:
            raise ValueError("the frame is gone")
        error = call(ctypes.byref(frame._raw))
        if error == 0:
            frame._open = False
            return True
        self.drop(frame)
        if error not in (-errno.EAGAIN, -errno.ESTALE):
            self._raise(error)
        return False

    def _raise(self, error):
        why = self.why if self._pointer else ""
        raise OSError(-error, why or os.strerror(-error))

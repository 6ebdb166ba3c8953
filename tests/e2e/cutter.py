"""A line between browsers and a server that can be cut: all connections at once, without a word."""

from __future__ import annotations

import socket
import struct
import threading
from contextlib import suppress

# A close that answers with a reset, as the kernel does for a process that was killed.
_RESET = struct.pack("ii", 1, 0)


class Cutter:
    def __init__(self, port: int) -> None:
        self._server = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        # Connections on which frames are asked for, of either kind.
        self.lines = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        with self._lock:
            ends, self._open = self._open, set()
        for end in ends:
            with suppress(OSError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def close(self) -> None:
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._server))
                with self._lock:
                    self._open |= {near, far}
                for source, target in ((near, far), (far, near)):
                    args = (source, target)
                    threading.Thread(target=self._pump, args=args, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self.lines += b"GET /ws/" in data or b"/live?" in data.partition(b"\r\n")[0]
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_WR)

"""A socket of which every byte and every ending is exact.

asyncio's own streams read ahead, buffer what is sent, and end a connection when it suits them. Here a read takes no
more than it was asked for, what was sent has been handed to the kernel, and a connection ends when end() is called.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import fcntl
import select
import socket
import ssl
import struct
import termios
from typing import Any

from .record import SeenConnection

SIOCOUTQNSD = 0x894B  # bytes that the kernel has not sent yet
LINGER_SECONDS = 2.0


class ConnectionOver(Exception):
    """The connection has ended; there is nothing more to do on it."""


class HangupWatch:
    """Tells each connection at once that its client has gone, also while nothing reads from it.

    A second epoll, watched by the event loop's own: asyncio cannot ask for EPOLLRDHUP.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._epoll = select.epoll()
        self._connections: dict[int, Connection] = {}
        loop.add_reader(self._epoll.fileno(), self._tell)

    def add(self, fd: int, connection: Connection) -> None:
        self._connections[fd] = connection
        self._epoll.register(fd, select.EPOLLRDHUP | select.EPOLLET)

    def remove(self, fd: int) -> None:
        del self._connections[fd]  # closing the socket takes it out of the epoll

    def connections(self) -> list[Connection]:
        """Those that are open."""
        return list(self._connections.values())

    def _tell(self) -> None:
        for fd, _ in self._epoll.poll(0):
            if (connection := self._connections.get(fd)) is not None:
                connection.client_has_gone()


class Connection:
    """One accepted connection. One task at a time reads, and one sends."""

    def __init__(self, sock: socket.socket, seen: SeenConnection, watch: HangupWatch) -> None:
        self.seen = seen
        self.gone = False  # the client has ended its side; what it sent before can still be read
        self._loop = asyncio.get_running_loop()
        self._socket: socket.socket | ssl.SSLSocket = sock
        self._fd = sock.fileno()
        self._watch = watch
        self._waiters: set[asyncio.Future[None]] = set()
        self._is_reading = False
        self._over = False
        sock.setblocking(False)
        self.settings: dict[int, int] = {}  # HTTP/2's, that its port was opened with
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        watch.add(self._fd, self)

    async def read(self, limit: int) -> bytes:
        """1 to `limit` bytes as soon as there are some; none when the client has ended its side."""
        while True:
            try:
                data = self._socket.recv(limit)
            except (BlockingIOError, ssl.SSLWantReadError):
                await self._readable()
            except ssl.SSLWantWriteError:
                await self._writable()
            except OSError:
                self.client_has_gone()
                return b""
            else:
                if not data:
                    self.client_has_gone()
                return data

    async def send(self, data: bytes | memoryview) -> None:
        """Hands all of it to the kernel."""
        while True:
            try:
                sent = self._socket.send(data)
            except (BlockingIOError, ssl.SSLWantWriteError):
                await self._writable()
            except ssl.SSLWantReadError:
                await self._readable()
            except OSError:
                self.client_has_gone()
                raise ConnectionOver from None
            else:
                if sent == len(data):
                    return
                data = memoryview(data)[sent:]

    async def pause(self, seconds: float) -> None:
        """Waits; less long if the client goes."""
        deadline = self._loop.time() + seconds
        timer = self._loop.call_at(deadline, self._wake)
        try:
            while not self.gone and self._loop.time() < deadline:
                await self._wait()
        finally:
            timer.cancel()

    async def pause_or_end(self, seconds: float) -> None:
        """Waits; an exception ends it if the client leaves meanwhile."""
        if seconds:
            await self.pause(seconds)
            if self.gone:
                raise ConnectionOver

    async def stall(self) -> None:
        """Does nothing until the client goes."""
        while not self.gone:
            await self._wait()
        raise ConnectionOver

    async def start_tls(self, context: ssl.SSLContext) -> bool:
        try:
            self._socket = context.wrap_socket(self._socket, server_side=True, do_handshake_on_connect=False)
        except OSError:  # it was reset meanwhile
            self._over = True
            self._watch.remove(self._fd)
            self.seen.end("client_reset")
            return False
        while True:
            try:
                self._socket.do_handshake()
            except ssl.SSLWantReadError:
                await self._readable()
            except ssl.SSLWantWriteError:
                await self._writable()
            except OSError as failure:
                reason = getattr(failure, "reason", None) or failure.strerror or str(failure)
                self.seen.tls = f"failed: {reason}"
                return False
            else:
                self.seen.tls = "done"
                self.seen.client_certificate = _subject(self._socket.getpeercert())
                return True

    @property
    def agreed_protocol(self) -> str | None:
        """What ALPN has chosen."""
        return self._socket.selected_alpn_protocol() if isinstance(self._socket, ssl.SSLSocket) else None

    async def sent_out(self) -> None:
        """Waits until all bytes have left for the client: a reset would throw away those that have not."""
        while not self.gone and self._unsent():
            await self.pause(0.001)

    def _unsent(self) -> int:
        """The number of bytes that have not left; under qemu, that the client's kernel has not acknowledged."""
        try:
            answer = fcntl.ioctl(self._fd, SIOCOUTQNSD, b"\0" * 4)
        except OSError as error:
            if error.errno != errno.ENOSYS:
                raise
            answer = fcntl.ioctl(self._fd, termios.TIOCOUTQ, b"\0" * 4)
        count: int = struct.unpack("i", answer)[0]
        return count

    async def end_with_unread(self, how: str) -> None:
        """Ends a connection of which the client may still be sending.

        Closing the socket now would send a reset, since there are unread bytes. So the client learns that nothing more
        comes, and what it sends is thrown away until it has understood.
        """
        if how == "reset" or self._over:
            return self.end(how)
        self.seen.end("server_" + ("closed" if how == "close" else how))
        self._finish_sending(how)
        timer = self._loop.call_later(LINGER_SECONDS, self.end, how)
        try:
            while not self._throw_away():
                await self._readable()
        finally:
            timer.cancel()
        self.end(how)

    def end_after(self, seconds: float) -> asyncio.TimerHandle:
        return self._loop.call_later(seconds, self.end, "close")

    def end(self, how: str) -> None:
        """Ends the connection now: "reset", "close" (with TLS's farewell) or "cut" (without it)."""
        if self._over:
            return
        self._over = True
        self.seen.end({"reset": "server_reset", "close": "server_closed", "cut": "server_cut"}[how])
        self._forget()
        if how == "reset":
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            self._finish_sending(how)
            self._throw_away()
        self._socket.close()
        self._wake()

    def client_has_gone(self) -> None:
        self.gone = True
        if not self._over:
            self.seen.end("client_reset" if self._was_reset() else "client_closed")
        if not self._is_reading:  # a read learns it from the socket, after the last byte
            self._wake()

    def _was_reset(self) -> bool:
        """Errors do not say it: Python's ssl takes a reset for an end of file."""
        poll = select.poll()
        poll.register(self._fd, 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))

    def _finish_sending(self, how: str) -> None:
        if how == "close" and isinstance(self._socket, ssl.SSLSocket):
            with contextlib.suppress(OSError, ValueError):  # it also wants the client's own farewell: no need to wait
                self._socket.unwrap()
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def _throw_away(self) -> bool:
        """Reads and forgets what is there. Whether the client has ended its side."""
        try:
            while socket.socket.recv(self._socket, 65536):
                pass
            return True
        except BlockingIOError:
            return False
        except OSError:
            return True

    async def _readable(self) -> None:
        self._is_reading = True
        self._loop.add_reader(self._fd, self._wake)
        try:
            await self._wait()
        finally:
            self._is_reading = False
            if not self._over:
                self._loop.remove_reader(self._fd)

    async def _writable(self) -> None:
        self._loop.add_writer(self._fd, self._wake)
        try:
            await self._wait()
        finally:
            if not self._over:
                self._loop.remove_writer(self._fd)
        if self.gone:
            raise ConnectionOver

    async def _wait(self) -> None:
        """Until _wake(). A task that waits looks again whether what was waited for is there."""
        if self._over:
            raise ConnectionOver
        waiter = self._loop.create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)
        if self._over:
            raise ConnectionOver

    def _wake(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def _forget(self) -> None:
        self._watch.remove(self._fd)
        self._loop.remove_reader(self._fd)
        self._loop.remove_writer(self._fd)


def _subject(certificate: Any) -> str:
    """As in CN=client; nothing if there is no certificate."""
    parts = [part for parts in (certificate or {}).get("subject", ()) for part in parts]
    return ", ".join(f"{'CN' if name == 'commonName' else name}={value}" for name, value in parts)

"""One HTTP connection, byte by byte, so that an answer can break off anywhere."""

from __future__ import annotations

import asyncio
import socket
import struct
from contextlib import suppress
from typing import Any


class Line:
    """A connection. What comes in while an answer goes out is kept for the next request."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        self.number = number
        self._reader, self._writer = reader, writer
        self._came = b""
        self._at_once = 0

    async def request(self) -> tuple[str, str, dict[str, str], bytes]:
        head = await self._until(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        length = int(headers.get("content-length", 0))
        while len(self._came) < length:
            await self._more()
        body, self._came = self._came[:length], self._came[length:]
        return method, path, headers, body

    async def _until(self, end: bytes) -> bytes:
        while end not in self._came:
            await self._more()
        head, _, self._came = self._came.partition(end)
        return head

    async def _more(self) -> None:
        data = await self._reader.read(65536)
        if not data:
            raise ConnectionResetError
        self._came += data

    async def unless_gone(self, answering: Any) -> bool:
        """Answers; raises `ConnectionError` as soon as the caller hangs up."""
        answer, hanging_up = asyncio.ensure_future(answering), asyncio.ensure_future(self._hangs_up())
        try:
            await asyncio.wait((answer, hanging_up), return_when=asyncio.FIRST_COMPLETED)
            if answer.done():
                return bool(answer.result())
            raise ConnectionResetError
        finally:
            for task in (answer, hanging_up):
                task.cancel()
            await asyncio.gather(answer, hanging_up, return_exceptions=True)

    async def _hangs_up(self) -> None:
        with suppress(ConnectionError):
            while True:
                await self._more()

    async def respond(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self._writer.write(_head(status, {**headers, "Content-Length": str(len(body))}) + body)
        await self._writer.drain()

    async def begin(self, status: int, headers: dict[str, str], bytes_at_once: int) -> None:
        self._at_once = bytes_at_once
        await self._send(_head(status, {**headers, "Transfer-Encoding": "chunked"}))

    async def chunk(self, data: bytes) -> None:
        await self._send(b"%x\r\n%b\r\n" % (len(data), data))

    async def end(self) -> None:
        await self._send(b"0\r\n\r\n")

    async def _send(self, data: bytes) -> None:
        size = self._at_once or len(data)
        for start in range(0, len(data), size):
            self._writer.write(data[start : start + size])
            await self._writer.drain()
            if self._at_once:
                await asyncio.sleep(0)

    def reset(self) -> None:
        """An RST instead of a FIN."""
        sock: socket.socket = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()


def _head(status: int, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status} Scripted", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    return "\r\n".join(lines).encode("latin-1")

"""What is kept of a stream that may be endless."""

from __future__ import annotations

import os

SIZE = 1 << 16
_HEAD = 1 << 14
_MOST_READS = 20  # as much as pipes hold


class Output:
    """The first bytes of a pipe and the last, where a crash tells of itself; what is between is thrown away."""

    def __init__(self, pipe: int) -> None:
        self.pipe = pipe
        self.head, self.tail = bytearray(), bytearray()
        os.set_blocking(pipe, False)

    def read(self) -> bool | None:
        """Take what there is, without waiting. None where there is nothing yet, False at the end of the stream."""
        try:
            data = os.read(self.pipe, SIZE)
        except BlockingIOError:
            return None
        room = _HEAD - len(self.head)
        self.head += data[:room]
        self.tail += data[room:]
        del self.tail[: _HEAD - SIZE]
        return bool(data)

    def close(self) -> None:
        """Take the rest, as far as it is there already, and close the pipe."""
        for _ in range(_MOST_READS):
            if not self.read():
                break
        os.close(self.pipe)

    def text(self) -> str:
        return bytes(self.head + self.tail).decode(errors="replace")

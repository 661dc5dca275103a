import dataclasses


@dataclasses.dataclass(frozen=True)
class Settings:
    rate: int = 2000
    frame: int = 64
    hop: int = 32
    dim: int = 16
    heads: int = 4
    batch: int = 8

    @property
    def head_dim(self):
        return self.dim // self.heads

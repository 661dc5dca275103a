"""Keyword spotting."""
from .settings import Settings

settings = Settings()
KEYWORDS = ["yes", "no", "stop", "go"]

from . import features, model, optim  # noqa: E402

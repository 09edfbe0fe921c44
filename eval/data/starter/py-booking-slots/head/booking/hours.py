"""When the house is open."""

from datetime import time

OPENS = time(8, 0)
CLOSES = time(18, 0)

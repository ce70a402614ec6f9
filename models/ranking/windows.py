"""Long posts in pieces that an encoder reads whole."""

SHORT = 600  # characters: some 130 tokens, well within the encoder's 256
WIDTH = 300  # about the longest of the posts that confidences are fitted on: in wider windows the rest drowns a claim
STEP = 150  # any passage of so many characters stands whole in some window


def split_windows(text: str) -> list[str]:
    """The text itself if it is short; else overlapping windows cut at spaces where there are any. Takes linear time."""
    if len(text) <= SHORT:
        return [text]
    starts = range(0, len(text) - STEP, STEP)
    return [_whole_words(text, start, start + WIDTH) for start in starts]


def _whole_words(text: str, start: int, end: int) -> str:
    """text[start:end] without the parts of words at its ends, unless they are most of it."""
    piece = text[start:end]
    first = piece.find(" ") + 1 if start > 0 and not text[start - 1].isspace() else 0
    last = piece.rfind(" ") if end < len(text) and not text[end].isspace() else len(piece)
    inner = piece[first:last] if last > first else ""
    return inner if len(inner) > WIDTH // 2 else piece

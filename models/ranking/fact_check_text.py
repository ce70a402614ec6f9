"""What of a fact-check is embedded and indexed. Chosen on the CheckThat! 2022 train split.

Embedded: title and claim, fused MAP@5 .906 beside .902 for the claim alone and .904 with the subtitle; bodies of whole
articles would blur the vector besides. Indexed: claim, title and body.
"""

from domain.fact_check import FactCheck


def embedding_text(claim: str, title: str) -> str:
    return f"{title}. {claim}" if title else claim


def indexed_fields(fact_check: FactCheck) -> tuple[str, str, str]:
    return fact_check.claim, fact_check.title, fact_check.body

"""English function words that say nothing about a claim's subject.

Negations, numbers, directions and modal verbs of doubt stay: "not", "no", "never", "without", "out", "may" can turn a
claim round. What an apostrophe cuts off ("don't" gives "don" and "t") is listed as the tokens it leaves.
"""

ENGLISH: frozenset[str] = frozenset(
    """
    a an the
    i me my myself we us our ours ourselves you your yours yourself yourselves he him his himself she her hers herself
    it its itself they them their theirs themselves one
    this that these those such which who whom whose what
    am is are was were be been being have has had having do does did doing will would shall should can could
    and or but if so than as because while
    of at by for with from to into in on about between among through during upon
    there here then now when where why how
    also just too very only some any each both all more most other own same
    s t d m ll re ve don didn doesn isn wasn aren weren hasn haven hadn wouldn couldn shouldn
    """.split()
)

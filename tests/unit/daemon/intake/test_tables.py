"""CSV and TSV."""

import pytest

from daemon.intake.reader import ReadOptions
from domain.errors import BadInput
from tests.unit.daemon.intake.conftest import Take

HEADER = "url,claim,rating\n"


def row(number: int) -> str:
    return f"https://fc.example/{number},Claim {number},False\n"


def test_each_row_is_a_record(take: Take) -> None:
    taken = take("a.csv", HEADER + row(1) + row(2))
    assert taken.claims == ["Claim 1", "Claim 2"]
    assert [r.key for r in taken.records] == ["fc.example/1", "fc.example/2"]


def test_columns_are_known_by_many_names_and_unused_ones_are_dropped(take: Take) -> None:
    header = "vclaim_id,vClaim,Subtitle,text,Truth Label,speaker,date,lang,source,headline,author,"
    cells = "v-1,It glows.,In short,At length.,pants-fire,Someone,26 May 2015,en,Desk,Title,Writer,"
    (record,) = take("a.csv", f"{header}\n{cells}\n").records
    assert (record.key, record.claim, record.body) == ("a:v-1", "It glows.", "In short\n\nAt length.")
    assert (record.verdict, record.rating_given, record.language) == ("false", "pants-fire", "en")
    assert (record.publisher, record.title, record.author) == ("Desk", "Title", "Writer")
    assert f"{record.published_at:%Y-%m-%d}" == "2015-05-26"


@pytest.mark.parametrize("name,delimiter", [("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t"), ("a.csv", "|")])
def test_the_delimiter_is_that_of_the_header(take: Take, name: str, delimiter: str) -> None:
    text = "url,claim,rating\nhttps://fc.example/1,One claim,False\n".replace(",", delimiter)
    assert take(name, text).claims == ["One claim"]


def test_line_ends_of_any_system_and_a_byte_order_mark_are_no_matter(take: Take) -> None:
    unix = HEADER + row(1) + '"https://fc.example/2","Claim\n2",False\n'
    for text in (unix, unix.replace("\n", "\r\n"), unix.replace("\n", "\r"), "\ufeff" + unix, unix.rstrip("\n")):
        for options in (ReadOptions(), ReadOptions(encoding="utf-8")):
            assert take("a.csv", text, options).claims == ["Claim 1", "Claim 2"]


def test_a_row_with_too_few_or_many_cells_is_rejected_with_its_line(take: Take) -> None:
    taken = take("a.csv", HEADER + row(1) + "https://fc.example/2,Claim 2\n" + row(3) + "a,b,c,d\n")
    assert taken.claims == ["Claim 1", "Claim 3"]
    assert taken.faults == [(3, ""), (5, "")]
    assert taken.rejected[0].reason == "it has 2 cells, the header has 3"
    assert taken.rejected[0].record == "https://fc.example/2,Claim 2"


def test_the_row_of_a_record_is_its_first_line_as_an_editor_counts(take: Take) -> None:
    taken = take(
        "a.csv", HEADER + '"https://fc.example/1","Claim\nin\nthree",False\n\n"https://fc.example/2","\n",False\n'
    )
    assert taken.claims == ["Claim in three"]
    assert taken.faults == [(6, "claim")]


def test_a_quote_that_is_never_closed_costs_one_row(take: Take) -> None:
    taken = take("a.csv", HEADER + row(1) + '"https://fc.example/2,Claim 2,False\n' + row(3) + row(4))
    assert taken.claims == ["Claim 1", "Claim 3", "Claim 4"]
    assert [(r.row, r.record) for r in taken.rejected] == [(3, '"https://fc.example/2,Claim 2,False')]


def test_text_after_a_closing_quote_costs_one_row(take: Take) -> None:
    taken = take("a.csv", HEADER + 'https://fc.example/1,"He said "no" to it",False\n' + row(2))
    assert taken.claims == ["Claim 2"]
    assert taken.faults == [(2, "")]


def test_rows_of_nothing_are_no_records(take: Take) -> None:
    assert take("a.csv", HEADER + "\n" + row(1) + ",,\n , ,\n").faults == []


def test_a_nul_is_no_fault(take: Take) -> None:
    taken = take("a.csv", "url,cl\0aim,rating\nhttps://fc.example/1,Cla\0im 1,False\n")
    assert taken.claims == ["Claim 1"]
    assert taken.records[0].rating_flags == ("NUL removed",)


def test_an_unknown_column_is_named_with_what_can_be_done(take: Take) -> None:
    with pytest.raises(BadInput) as caught:
        take("a.csv", "url,claim,colour,shape\nhttps://fc.example/1,x,red,round\n")
    message = str(caught.value)
    for part in ("a.csv", "'colour', 'shape'", "--map 'colour'=FIELD", "--ignore 'colour'", "published_at"):
        assert part in message
    assert "\n" not in message


def test_a_column_can_be_mapped_or_ignored(take: Take) -> None:
    options = ReadOptions(columns={"what they say": "claim"}, ignore=frozenset({"colour"}))
    taken = take("a.csv", "url,what they say,colour\nhttps://fc.example/1,It glows,red\n", options)
    assert taken.claims == ["It glows"]


def test_mapping_to_no_field_is_refused(take: Take) -> None:
    with pytest.raises(BadInput, match="--map …=claims: there is no such field"):
        take("a.csv", HEADER, ReadOptions(columns={"claim": "claims"}))


def test_mapping_a_column_that_is_not_there_is_refused(take: Take) -> None:
    with pytest.raises(BadInput, match=r"a\.csv has no column 'nope', which --map names"):
        take("a.csv", HEADER, ReadOptions(columns={"nope": "title"}))


def test_columns_that_differ_in_case_alone_are_refused_unless_one_is_left_out(take: Take) -> None:
    text = "url,claim,Claim\nhttps://fc.example/1,One,Other\n"
    with pytest.raises(BadInput, match="two columns, 'claim' and 'Claim', of one name"):
        take("a.csv", text)
    assert take("a.csv", text, ReadOptions(ignore=frozenset({"claim"}))).claims == ["Other"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("url,rating\nhttps://fc.example/1,False\n", "no column with the claim"),
        ('url,"claim\nhttps://fc.example/1,False\n', "quotes of the header"),
        ("url,claim,claim\n", "two columns named 'claim'"),
        ("\n \n", "is empty"),
    ],
)
def test_a_table_without_a_usable_header_is_refused(take: Take, text: str, complaint: str) -> None:
    with pytest.raises(BadInput, match=complaint):
        take("a.csv", text)


def test_two_rows_of_one_article_are_both_given_in_order(take: Take) -> None:
    taken = take("a.csv", HEADER + "https://fc.example/1,Old,False\nhttps://www.fc.example/1/,New,False\n")
    assert [(r.key, r.claim) for r in taken.records] == [("fc.example/1", "Old"), ("fc.example/1", "New")]


def test_what_a_record_leaves_out_the_options_give(take: Take) -> None:
    options = ReadOptions(publisher="Desk", default_rating="False")
    taken = take("a.csv", "claim,rating,rating_value,source\nOne,,,\nTwo,True,,Own\nThree,,5,\n", options)
    assert [(r.publisher, r.verdict) for r in taken.records] == [("Desk", "false"), ("Own", "true"), ("Desk", "true")]

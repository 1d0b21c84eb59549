from ricochet.tasks.console import table


def test_columns_are_aligned_and_absent_numbers_are_dashes():
    found = table.lines(["", "height, m", "name"], [["a", 1.23456, "x"], ["longer", None, "yy"]])
    assert found == [
        "          height, m  name",
        "  a           1.235  x",
        "  longer          -  yy",
    ]


def test_every_line_ends_where_its_text_does():
    found = table.lines(["a", "b"], [["x", "y"], ["longer", "y"]])
    assert all(line == line.rstrip() for line in found)


def test_records_are_read_by_their_keys_and_what_is_missing_is_absent():
    records = {"one": {"mean": {"x": 0.5}, "takes": 3}, "two": {"mean": None}}
    found = table.of_records(records, {"mean": "mean/x", "takes": "takes"}, label="name")
    assert [line.split() for line in found] == [
        ["name", "mean", "takes"],
        ["one", "0.5", "3"],
        ["two", "-", "-"],
    ]


def test_a_number_that_is_no_leaf_is_absent():
    assert table.of_records({"one": {"x": 1.0}}, {"x": "x/y"})[1].split() == ["one", "-"]

"""The generated tables and pictures in the pages are what the code makes."""

from __future__ import annotations

import pytest

from tests.docs.scripts import script

tables = script("tables")


@pytest.fixture(scope="module")
def files():
    return tables.files()


def test_pages_and_pictures_are_up_to_date(files):
    outdated = [path.name for path, text in files.items() if path.read_text(encoding="utf-8") != text]
    assert outdated == [], "python docs/tables.py writes them anew"


def test_every_generated_part_is_in_a_page(files):
    names = {part["name"] for text in files.values() for part in tables.PART.finditer(text)}
    pictures = {name for name in tables.texts() if name.startswith("picture-")}  # the page of fields has all of them
    assert set(tables.texts()) - pictures <= names


def test_there_is_no_picture_of_a_field_that_is_gone(files):
    assert set(tables.field_pictures.FOLDER.glob("*")) <= set(files)


def test_a_part_is_replaced_and_the_text_around_it_is_kept():
    page = "Before.\n\n<!-- generated: who-empty -->\nold\n<!-- end -->\n\nAfter.\n"
    head, body = tables.filled(page).split("<!-- generated: who-empty -->\n\n")
    table, tail = body.split("\n\n<!-- end -->")
    assert (head, tail) == ("Before.\n\n", "\n\nAfter.\n")
    assert table.startswith("| `empty` | presets |\n| --- | --- |\n| `0` | `textbook`, ")
    assert tables.filled(tables.filled(page)) == tables.filled(page)

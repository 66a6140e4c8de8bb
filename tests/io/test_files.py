import gzip
import os
from pathlib import Path

import pytest

from hybridalloc.errors import InputError
from hybridalloc.io.files import is_folder, read_text, require_writable, write_text


@pytest.mark.parametrize("name", ["plain.txt", "packed.txt.gz"])
def test_what_was_written_is_read(tmp_path: Path, name: str) -> None:
    write_text(tmp_path / name, "größer\n" * 100)
    assert read_text(tmp_path / name) == "größer\n" * 100


def test_a_name_that_ends_in_gz_is_compressed_to_the_same_bytes_each_time(
    tmp_path: Path,
) -> None:
    write_text(tmp_path / "a.gz", "text")
    write_text(tmp_path / "b.gz", "text")
    packed = (tmp_path / "a.gz").read_bytes()
    assert gzip.decompress(packed) == b"text"
    assert packed[4:8] == bytes(4)  # no time stamp
    assert (tmp_path / "b.gz").read_bytes() == packed


def test_a_compressed_file_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_bytes(gzip.compress(b"text", mtime=0))
    assert read_text(tmp_path / "plain.txt") == "text"


def test_byte_order_mark_and_windows_line_ends_disappear(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    assert read_text(tmp_path / "a.txt") == "one\ntwo\n"


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", None, "cannot read this file: No such file or directory"),
        ("a.gz", b"plain", "expected a gzip file: Not a gzipped file (b'pl')"),
        ("a.txt", gzip.compress(b"text", mtime=0)[:-9], "expected a gzip file: "),
        ("a.txt", gzip.compress(b"text" * 99, mtime=0)[:20], "expected a gzip file: "),
        ("a.txt", b"\x1f\x8b", "expected a gzip file: "),
        ("a.txt", b"\x1f\x8b\x08" + bytes(7) + b"\xff" * 20, "expected a gzip file: "),
        ("a.txt", b"1\n2\n\xff", "expected UTF-8 text, found byte 0xff"),
        ("a\0.txt", None, "cannot read this file: "),
    ],
)
def test_a_file_that_cannot_be_read_is_an_input_error(
    tmp_path: Path, name: str, content: bytes | None, expected: str
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_text(path)
    assert caught.value.message.startswith(expected)
    assert str(caught.value).startswith(str(path))


def test_text_that_is_not_utf8_is_located_by_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"1\n2\n\xff")
    with pytest.raises(InputError) as caught:
        read_text(tmp_path / "a.txt")
    assert caught.value.line == 3


def test_a_folder_cannot_be_read_or_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Is a directory"):
        read_text(tmp_path)
    with pytest.raises(InputError, match="Is a directory"):
        write_text(tmp_path, "text")


def test_writing_into_a_missing_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file or directory"):
        write_text(tmp_path / "missing" / "a.txt", "text")


def test_a_failed_write_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    write_text(tmp_path / "a.txt", "old")
    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(InputError, match="No space left on device"):
        write_text(tmp_path / "a.txt", "new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [
        ("a.txt", "old")
    ]


def test_text_without_a_utf8_form_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="surrogates not allowed"):
        write_text(tmp_path / "a.txt", "\ud800")
    assert not list(tmp_path.iterdir())


def test_a_link_stays_a_link_to_the_new_text(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


def test_a_device_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    reader, writer = os.pipe()  # stands for /dev/stdout
    with os.fdopen(reader) as stream:
        write_text(f"/dev/fd/{writer}", "text")
        os.close(writer)
        assert stream.read() == "text"


def test_what_can_be_written_is_found_out_without_a_trace(tmp_path: Path) -> None:
    (tmp_path / "there.json").write_text("before")
    for name in ("new.json", "there.json"):
        require_writable(tmp_path / name)
    require_writable(Path(os.devnull))
    assert [path.name for path in tmp_path.iterdir()] == ["there.json"]
    assert (tmp_path / "there.json").read_text() == "before"


@pytest.mark.parametrize("length", [300, 5000])
def test_a_name_that_is_too_long_is_told(tmp_path: Path, length: int) -> None:
    path = tmp_path / ("a" * length)
    with pytest.raises(InputError, match="too long"):
        require_writable(path)
    with pytest.raises(InputError, match="too long"):
        read_text(path)


def test_a_folder_that_takes_no_files_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "touch", refuse)
    with pytest.raises(InputError, match="cannot write this file: Permission denied"):
        require_writable(tmp_path / "map.json")


def test_a_folder_without_access_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path) -> bool:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "is_dir", refuse)
    with pytest.raises(InputError, match="cannot read this file: Permission denied"):
        is_folder(tmp_path / "locked")

"""What asynchronous instructions and collectives read, write and keep alive."""

from __future__ import annotations

from hlo_texts import ADD, accesses, read

from hybridalloc.program import Access

KIB = 1024  # f32[256] takes 1 KiB


def test_an_asynchronous_copy_costs_nothing_and_lasts_until_its_done() -> None:
    hlo = read("""
  p = f32[256] parameter(0)
  x = f32[256] negate(p)
  s = (f32[256], f32[256], u32[]) copy-start(x)
  y = f32[256] negate(p)
  d = f32[256] copy-done(s)
  z = f32[256] add(d, y)
""")
    assert accesses(hlo, "s") == {
        "x": Access(1),
        "s{0}": Access(2, whole=True),
        "s{2}": Access(3, whole=True),
    }
    # The done reads no bytes, but keeps source and destination alive.
    assert accesses(hlo, "d") == {"s{0}": Access(2), "x": Access(1), "s{2}": Access(3)}
    assert accesses(hlo, "z")["s{0}"].read_bytes == KIB


def test_an_all_reduce_start_writes_its_operand_in_place() -> None:
    hlo = read(
        """
  p = f32[256] parameter(0)
  x = f32[256] negate(p)
  s = f32[256] all-reduce-start(x), to_apply=add
  d = f32[256] all-reduce-done(s)
""",
        ADD,
    )
    (access,) = accesses(hlo, "s").values()
    assert access.writes
    assert not access.whole
    assert accesses(hlo, "d") == {"x": Access(1)}
    assert hlo.program.buffers[1].is_output


def test_a_send_does_not_write_what_it_sends_and_received_data_is_new() -> None:
    hlo = read("""
  x = f32[256] parameter(0)
  t = token[] after-all()
  s = (f32[256], u32[], token[]) send(x, t), channel_id=1
  e = token[] send-done(s), channel_id=1
  r = (f32[256], u32[], token[]) recv(t), channel_id=2
  d = (f32[256], token[]) recv-done(r), channel_id=2
  y = f32[256] get-tuple-element(d), index=0
  z = f32[256] add(x, y)
""")
    assert not accesses(hlo, "s")["x"].writes
    assert accesses(hlo, "e")["x"] == Access(0)
    assert accesses(hlo, "r")["r{0}"].whole
    assert accesses(hlo, "z")["r{0}"].read_bytes == KIB


def test_an_asynchronous_computation_costs_nothing_and_writes_its_result() -> None:
    called = """
side {
  p = f32[256] parameter(0)
  n = f32[256] negate(p)
  ROOT r = f32[256] negate(n)
}
"""
    hlo = read(
        """
  x = f32[256] parameter(0)
  s = ((f32[256]), f32[256], u32[]) async-start(x), calls=side
  y = f32[256] negate(x)
  d = f32[256] async-done(s)
  z = f32[256] add(d, y)
""",
        called,
    )
    assert accesses(hlo, "n") == {"x": Access(0), "n": Access(1, whole=True)}
    assert accesses(hlo, "r") == {"n": Access(1), "r": Access(2, whole=True)}
    assert list(accesses(hlo, "s")) == ["x", "s{2}"]  # its result is written before
    assert accesses(hlo, "z")["r"].read_bytes == KIB
    seconds = {i.name: i.compute_s for i in hlo.program.instructions}
    assert seconds["n"] == 0 < seconds["y"]


def test_a_done_whose_start_is_not_understood_defines_its_result() -> None:
    hlo = read("""
  x = f32[256] parameter(0)
  s = f32[9] strange-start(x)
  d = (f32[256], f32[9]) strange-done(s)
  y = f32[256] get-tuple-element(d), index=0
  z = f32[256] negate(y)
""")
    assert accesses(hlo, "d")["d{0}"].whole

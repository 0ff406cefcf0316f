"""What a machine says of this host."""

from hardcost.errors import MachineError
from hardcost.machines.check import Check, attempt, program


def test_what_was_found_or_what_is_missing_is_said_with_its_remedy() -> None:
    def missing() -> str:
        raise MachineError("there is none", hint="apt-get install one")

    assert attempt("a", lambda: "1.0") == Check("a", ok=True, found="1.0")
    assert attempt("a", missing) == Check(
        "a", ok=False, found="there is none", remedy="apt-get install one"
    )


def test_a_program_is_looked_for_on_the_path() -> None:
    assert program("sh", "dash").ok
    lost = program("no-such-program", "nowhere")
    assert (lost.ok, lost.found, lost.remedy) == (False, "missing", "apt-get install nowhere")

"""Downloads from servers that do everything wrong: nothing wrong is accepted, and nothing good is lost."""

from benchmarks.faults.actions import base, local_server
from benchmarks.faults.case import Case
from benchmarks.faults.judge import DidNotSurvive, check_same
from benchmarks.faults.server import BEHAVIORS, FILE, Handler, content, published_hash


def try_bad_server(case: Case) -> None:
    """A wrong answer, with or without a published hash, perhaps after a part; then the right one."""
    behavior = BEHAVIORS[case.number % len(BEHAVIORS)]
    hashed, part = case.rng.random() < 0.6, case.rng.random() < 0.4
    case.tried = f"{behavior}{'' if hashed else ', no hash'}{', after a part' if part else ''}"
    here, port = case.copy_of(base(case.bench)), local_server(case.bench)
    target = here / "data-root" / "dsprites" / FILE
    words = ["data", "download", "dsprites", "--data-root", "data-root"]
    path = case.name.replace("/", "-")
    Handler.now[path] = "file.npz"
    right = {"port": port, "sha256": published_hash(), "path": f"/{path}"}
    if part:
        running = case.start(words, here, patch=("address", right))
        running.ends_within(case.rng.uniform(0.05, 0.15))
        running.signal()
        running.wait(60)
    was_there = target.exists()
    wrong = right | {"sha256": published_hash() if hashed else None}
    Handler.now[path] = behavior
    ended = case.call(words, here, patch=("address", wrong))
    if target.exists() and not was_there and target.read_bytes() != content():
        if hashed or ended.code == 0:
            raise DidNotSurvive("accepted a wrong file", ended.last_lines)
        target.unlink()  # as the sentence says: without a hash, only the loader knows
    if ended.code == 0 and not target.exists():
        raise DidNotSurvive("claims a file that is not there", ended.last_lines)
    Handler.now[path] = "file.npz"
    case.call(words, here, (0,), patch=("address", right))
    check_same("the file", target.read_bytes() == content(), True)
    case.check_files()

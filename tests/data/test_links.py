"""Addresses of official files, asked on a server on this machine, src/unbraid/data/links.py."""

import pytest

from tests.data.file_server import CONTENT, FileServer
from unbraid.data import links
from unbraid.data.links import check_links
from unbraid.data.manual_download import ManualDownload
from unbraid.data.registry import DATASETS, DatasetEntry
from unbraid.data.remote_file import RemoteFile, RemoteFiles


def use(monkeypatch: pytest.MonkeyPatch, *sources: RemoteFile | RemoteFiles | ManualDownload | None) -> None:
    """Puts datasets with these sources in the place of Unbraid's."""
    make = DATASETS["sprites"].constructor
    entries = {
        f"set{index}": DatasetEntry(make, lambda index=index: sources[index]) for index in range(len(sources))
    }
    monkeypatch.setattr(links, "DATASETS", entries)


def file(*urls: str, size: int | None = None, name: str = "set/file.npz") -> RemoteFile:
    return RemoteFile(urls, name, size=size)


@pytest.mark.parametrize("refuses_head", [False, True])
def test_states_of_addresses(server: FileServer, monkeypatch: pytest.MonkeyPatch, refuses_head: bool) -> None:
    server.refuses_head = refuses_head
    use(
        monkeypatch,
        file(server.url("a"), server.url("moved/b"), size=len(CONTENT)),
        file(server.url("gone"), "http://127.0.0.1:9/file.npz"),
        RemoteFiles((file(server.url("c"), size=5), file(server.url("a")))),
        ManualDownload("byhand", (), server.url("page") + " (or any faces)"),
        None,
    )
    found = {link.address.rpartition("/")[2]: link for link in check_links()}
    assert list(found) == ["a", "b", "gone", "file.npz", "c", "page"]  # each address once
    host = server.url("").removeprefix("http://").rstrip("/")
    assert found["a"].state == "ok, 102.4 KB" and found["a"].is_alive
    assert found["b"].state == f"ok, 102.4 KB, redirected to {host}" and found["b"].is_alive
    assert found["gone"].state == "dead: it answers 404 Not Found" and not found["gone"].is_alive
    assert found["file.npz"].state.startswith("dead: it cannot be reached") and not found["file.npz"].is_alive
    assert found["c"].state == "changed: 102,400 bytes, published 5" and not found["c"].is_alive
    assert found["page"].state == "ok" and found["page"].file == "byhand/ (by hand)"


def test_a_login_page_is_dead(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    server.content_type = "text/html; charset=utf-8"
    use(monkeypatch, file(server.url("a")))
    assert [link.state for link in check_links()] == ["dead: it answers with a web page"]


def test_without_a_network_there_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, file("http://127.0.0.1:9/one", "http://127.0.0.1:9/two"))
    with pytest.raises(
        OSError, match=r"None of 2 addresses can be reached .* Check the network and try again"
    ) as caught:
        check_links()
    assert "\n" not in str(caught.value)


def test_one_dataset_by_name(server: FileServer, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_links("sprites") == []
    with pytest.raises(ValueError, match="did you mean sprites"):
        check_links("sprite")
    with pytest.raises(ValueError, match="is a path, not a name"):
        check_links(".")


def test_every_address_of_unbraid_is_in_the_list(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(links, "_ask", lambda address: (asked.append(address), ("ok", True, False))[1])
    names = {link.dataset for link in check_links()}
    assert names == {
        *(
            "dsprites",
            "shapes3d",
            "mpi3d",
            "digits",
            "flowers102",
            "celeba",
            "expressions",
            "mouse-protein",
            "emnist",
        )
    }
    assert sum(each.dataset == "mpi3d" for each in asked) == 3
    assert sum(each.dataset == "digits" for each in asked) == 8

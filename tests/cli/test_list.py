"""`unbraid list`, src/unbraid/cli/list.py."""

from tests.commandline import CommandLine


def test_list_names_everything(unbraid: CommandLine) -> None:
    found = unbraid("list", "--json").json
    assert set(found) == {"methods", "datasets", "metrics", "recipes"}
    assert {"beta-vae", "annealed-vae", "factor-vae", "dip-vae-i", "dip-vae-ii"} <= set(found["methods"])
    assert {"beta-tcvae", "ada-gvae", "ada-ml-vae"} <= set(found["methods"])
    assert {"sprites", "dsprites", "rooms", "shapes3d", "mpi3d"} <= set(found["datasets"])
    assert "vae-family/sweep" in found["recipes"]
    assert all(summary for kind in found.values() for summary in kind.values())
    assert list(unbraid("list", "recipes", "--json").json) == ["recipes"]
    assert "  beta-vae" in unbraid("list", "methods").out
    assert "no list 'method'; did you mean methods" in unbraid("list", "method").sentence

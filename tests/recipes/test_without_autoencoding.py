"""The recipes of the subembedding paper, src/unbraid/recipes/without_autoencoding."""

import pytest

from unbraid.recipes import read_recipe
from unbraid.studies.aggregate import _published, varying_options


@pytest.mark.parametrize("number", range(1, 10))
def test_the_subembedding_papers_tables_have_its_settings(number: int) -> None:
    """Halves of 8, ResNet-34, the printed weights; batch, stem, rate, length and views are our reading."""
    for plan in read_recipe(f"without-autoencoding/table{number}", "paper").runs:
        options = plan.resolved()
        assert options["network"]["architecture"] == "resnet-34-stride-2"
        assert options["data"]["image_size"] == 64 and options["data"]["backgrounds"] == "auto"
        assert options["training"]["steps"] == 60_000 and options["training"]["batch_size"] == 256
        assert options["draw"]["crop"] == 1 and options["draw"]["color_jitter"] == 0
        method = options["method"]
        if plan.method == "subinfomax":
            assert method["embedding_dim"] == 16 and method["num_subembeddings"] == 2
            assert method["orthogonality_reduction"] == "sum" and not method["regularize_features"]
            weights = [value for name, value in method.items() if name.startswith("lambda_") and value]
            assert len(weights) == 1 and weights[0] in (0.001, 0.1)
            assert (method["pipeline"] == "unified") == (method["lambda_hessian"] > 0)


def test_only_rows_as_printed_show_the_subembedding_papers_numbers() -> None:
    accuracy = "{}:disentanglement_gap.accuracy.whole.digit"
    for number, strand, option, printed in (
        (1, "r", "standardize_features", False),
        (2, "z", "infomin_form", "printed"),
    ):
        recipe = read_recipe(f"without-autoencoding/table{number}", "paper")
        varying = varying_options(recipe.runs)
        shown = []
        for plan in recipe.runs:
            own = {name: plan.options[name] for name in sorted(varying[plan.method])}
            value = _published(recipe.published, plan.method, plan.data, own, accuracy.format(strand))
            assert (value is not None) == (plan.options[option] == printed)
            shown.append(value)
        assert [value for value in shown if value is not None] == ([0.973] if number == 1 else [0.743, 0.476])


def test_figure_5_is_a_run_of_table_2_and_scales_have_their_sizes() -> None:
    [figure] = read_recipe("without-autoencoding/figure5", "paper").runs
    assert figure.identity == read_recipe("without-autoencoding/table2", "paper").runs[0].identity
    for plan in read_recipe("without-autoencoding/table3", "short").runs:
        options = plan.resolved()
        assert options["network"]["architecture"] == "conv" and options["data"]["image_size"] == 32
        assert options["training"]["steps"] == 20_000 and options["method"]["embedding_dim"] == 16
    small = [
        plan
        for plan in read_recipe("without-autoencoding/small", "short").runs
        if plan.method == "subinfomax"
    ]
    sizes = {(plan.options["embedding_dim"], plan.options["steps"]) for plan in small}
    assert sizes == {(16, 20_000), (32, 20_000), (16, 60_000), (32, 60_000)}
    on = {
        plan.resolved()["method"]["regularize_features"]
        for plan in read_recipe("without-autoencoding/locality", "paper").runs
    }
    assert on == {(), ("infomin",), ("orthogonality",), ("permuted_orthogonality",), ("hessian",)}

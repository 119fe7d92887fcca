"""SubInfoMax and its regularizers, src/unbraid/methods/subinfomax.py."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.testing import assert_close

from tests.tiny import batch_for, images, loss, make
from unbraid.methods import SubInfoMax, SupCon
from unbraid.methods.subinfomax import REGULARIZERS
from unbraid.objectives import hessian_blocks, infomin, supcon_loss, unit_subembeddings
from unbraid.options import options_of
from unbraid.training.step import TrainingStep
from unbraid.types import Terms, ViewBatch

NONE: dict[str, Any] = {f"lambda_{name}": 0.0 for name in REGULARIZERS}
every_regularizer = pytest.mark.parametrize("name", REGULARIZERS)
PIPELINES = ("separate", "unified")


def method_with(**settings: Any) -> SubInfoMax:
    return make(SubInfoMax, **(NONE | {"embedding_dim": 8} | settings))


def terms(method: SubInfoMax, batch: ViewBatch | None = None) -> Terms:
    return loss(method, batch_for(SubInfoMax) if batch is None else batch)


def embeddings(method: SubInfoMax) -> tuple[Tensor, Tensor]:
    """z of all views, and their labels."""
    batch = batch_for(SubInfoMax)
    z = method.features_and_embedding(torch.cat([batch.x1, batch.x2]))[1]
    return z, torch.cat([batch.labels, batch.labels])


def test_eq_2_is_a_sum_over_the_subembeddings() -> None:
    method = method_with(temperature=0.3)
    z, labels = embeddings(method)
    z0, z1 = z.chunk(2, 1)
    assert_close(z0.norm(dim=1), torch.ones(16, dtype=torch.float64))
    expected = sum(supcon_loss(part, labels, temperature=0.3) for part in (z0, z1))
    assert_close(terms(method).total, expected)


def test_the_unified_pipeline_without_regularizers_is_supcon() -> None:
    unified, supcon = method_with(pipeline="unified"), make(SupCon, embedding_dim=8)
    supcon.load_state_dict(unified.state_dict())
    assert_close(terms(unified).total, loss(supcon, batch_for(SupCon)).total)


@every_regularizer
def test_a_weight_adds_as_much_of_its_regularizer(name: str) -> None:
    """Eq. 3: λ R beside what was there, and the slope is R."""
    low, high = (terms(method_with(**{f"lambda_{name}": weight})) for weight in (0.5, 2.0))
    assert_close(high.total - low.total, 1.5 * low.by_name[name])
    assert_close(low.by_name["infomax"], terms(method_with()).total)
    assert set(low.by_name) == {"infomax", name}


@every_regularizer
@pytest.mark.parametrize("on", ["z", "r"])
@pytest.mark.parametrize("pipeline", PIPELINES)
def test_gradients_of_every_regularizer_reach_all_heads(name: str, on: str, pipeline: str) -> None:
    """On z both heads; on r the encoder, and for the Hessian, which differentiates through them, the heads too."""
    method = method_with(
        **{f"lambda_{name}": 1.0}, pipeline=pipeline, regularize_features=(name,) if on == "r" else ()
    )
    R = terms(method).by_name[name]
    heads = [[*head.parameters()] for head in method.head.heads]
    parameters = [*method.encoder.parameters(), *(weight for head in heads for weight in head)]
    gradients = dict(zip(parameters, torch.autograd.grad(R, parameters, allow_unused=True), strict=True))
    assert all(gradients[weight].any() for weight in method.encoder.parameters())
    for head in heads:
        reached = [gradients[weight] is not None and bool(gradients[weight].any()) for weight in head]
        assert all(reached) if on == "z" or name == "hessian" else not any(reached)


@every_regularizer
def test_rescaling_z_before_it_is_normalized_changes_nothing(name: str) -> None:
    class Scaled(nn.Module):
        latent_dim, heads = 8, ()

        def __init__(self, head: nn.Module) -> None:
            super().__init__()
            self.head = head

        def forward(self, r: Tensor) -> Tensor:
            return 10 * self.head(r)

    for pipeline in PIPELINES:
        method = method_with(**{f"lambda_{name}": 1.0}, pipeline=pipeline)
        before = terms(method).by_name[name]
        method.head = Scaled(method.head)
        assert_close(terms(method).by_name[name], before)


def test_the_hessian_is_of_the_gradient_by_the_normalized_embedding() -> None:
    """By autograd on the summed loss, row by row; for both pipelines with one InfoMax and for the one with K."""
    for pipeline in PIPELINES:
        method = method_with(lambda_hessian=1.0, pipeline=pipeline, temperature=0.5)
        z, labels = embeddings(method)
        z = z.detach().requires_grad_()
        parts = z.chunk(2, 1) if pipeline == "separate" else (z,)
        value = sum(16 * supcon_loss(part, labels, temperature=0.5) for part in parts)
        (gradient,) = torch.autograd.grad(value, z)
        g0, g1 = gradient.chunk(2, 1)
        expected = (g0.norm(dim=1) * g1.norm(dim=1)).mean()
        assert_close(terms(method).by_name["hessian"], expected)


def test_the_hessian_on_r_differentiates_through_the_heads() -> None:
    """The gradient by the features of unit length, their length held, of a method without batch statistics."""
    method = method_with(lambda_hessian=1.0, regularize_features=("hessian",), pipeline="unified").eval()
    batch = batch_for(SubInfoMax)
    x, labels = torch.cat([batch.x1, batch.x2]), torch.cat([batch.labels, batch.labels])
    r = method.encoder(x).detach()
    unit = F.normalize(r, dim=1).requires_grad_()
    z = F.normalize(method.head(unit * r.norm(dim=1, keepdim=True)), dim=1)
    (gradient,) = torch.autograd.grad(16 * supcon_loss(z, labels, temperature=0.1), unit)
    assert_close(terms(method).by_name["hessian"], hessian_blocks(gradient.unflatten(1, (2, -1))))


def test_the_permutation_is_sampled_at_each_step() -> None:
    method, batch = method_with(lambda_permuted_orthogonality=1.0), batch_for(SubInfoMax)
    torch.manual_seed(0)
    amounts = [float(method.loss(batch).by_name["permuted_orthogonality"].detach()) for _ in range(5)]
    assert len(set(amounts)) > 1
    torch.manual_seed(0)
    assert float(method.loss(batch).by_name["permuted_orthogonality"].detach()) == amounts[0]


@pytest.mark.parametrize("on_r", [(), ("hessian",)])
def test_a_step_with_the_hessian_updates_every_weight(on_r: tuple[str, ...]) -> None:
    method = method_with(lambda_hessian=0.1, regularize_features=on_r, pipeline="unified")
    before = [parameter.clone() for parameter in method.parameters()]
    TrainingStep(method).run(lambda: batch_for(SubInfoMax), 0)
    assert all((new != old).any() for new, old in zip(method.parameters(), before, strict=True))


@pytest.mark.parametrize("on_r", [(), ("hessian",)])
def test_the_hessian_can_be_measured_without_gradients(on_r: tuple[str, ...]) -> None:
    method = method_with(lambda_hessian=0.1, regularize_features=on_r, pipeline="unified").eval()
    with torch.no_grad():
        found = method.validation_loss(batch_for(SubInfoMax))
    assert_close(found.total, terms(method).total)


def test_statistics_are_kept_with_the_weights() -> None:
    """What evaluation goes by is in the state, so that a loaded model encodes as the trained one."""
    method, other = method_with(), method_with(seed=1)
    terms(method)
    other.load_state_dict(method.state_dict())
    assert any("running_mean" in name for name in method.state_dict())
    assert_close(other.eval().encode(images()), method.eval().encode(images()), rtol=0, atol=0)


def test_eq_4_has_two_forms_and_eq_5_two_reductions() -> None:
    corrected, printed = (
        terms(method_with(lambda_infomin=1.0, infomin_form=form)).by_name["infomin"]
        for form in ("corrected", "printed")
    )
    assert abs(corrected - printed) > 1e-3
    batch = batch_for(SubInfoMax)
    method = method_with(lambda_infomin=1.0, infomin_form="printed", temperature=0.3)
    _, z = method.views(batch)
    by_view = [infomin(unit_subembeddings(view, 2), temperature=0.3, form="printed") for view in z.unbind(1)]
    assert_close(terms(method, batch).by_name["infomin"], torch.stack(by_view).mean())
    total, mean = (
        terms(method_with(lambda_orthogonality=1.0, orthogonality_reduction=reduction)).by_name[
            "orthogonality"
        ]
        for reduction in ("sum", "mean")
    )
    assert_close(total, 2 * mean)
    assert_close(terms(method_with(lambda_orthogonality=1.0)).by_name["orthogonality"], total)


def test_other_pipelines_and_regularizers_are_refused() -> None:
    with pytest.raises(ValueError, match="--pipeline: 'balanced' must be one of separate, unified"):
        options_of(SubInfoMax)["pipeline"].parse("balanced")
    with pytest.raises(ValueError, match="--infomin-form: 'bound' must be one of corrected, printed"):
        options_of(SubInfoMax)["infomin_form"].parse("bound")
    with pytest.raises(ValueError, match="--orthogonality-reduction: 'max' must be one of sum, mean"):
        options_of(SubInfoMax)["orthogonality_reduction"].parse("max")
    with pytest.raises(
        ValueError, match=r"must list regularizers among infomin, .*hessian; got 'dependence'"
    ):
        method_with(regularize_features=("dependence",))

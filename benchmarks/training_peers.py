"""Training steps of disent and pythae on networks and images that are handed to them.

Each step is the library's own: its model's forward and loss, its optimizer, its order of backward passes, as
its trainer runs them on one batch. Left out, in the peers' favor, are their data loaders, Lightning's
trainer around disent, progress bars and callbacks: batches come from the same function for all.
"""

import contextlib
import importlib.abc
import importlib.machinery
import logging
import sys
import tempfile
import warnings
from collections.abc import Callable
from typing import Any
from unittest.mock import MagicMock

import torch
from torch import Tensor, nn

Step = Callable[[], object]
Images = Callable[[int], Tensor]  # the next batch of so many

INSTALL = "python -m pip install --no-deps --target FOLDER {}, then --peers FOLDER"
NEEDS = {
    "disent": "disent==0.8.0 requests",
    "pythae": "pythae==0.1.2 pydantic pydantic-core annotated-types typing-inspection imageio cloudpickle tqdm",
}


class Unneeded(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Stands for packages that disent imports and its training step does not use."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> Any:
        if name.split(".")[0] in ("torchvision", "lightning"):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Any:
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__ = [], spec
        module.LightningModule, module.LightningDataModule = nn.Module, object
        return module

    def exec_module(self, module: object) -> None:
        pass


@contextlib.contextmanager
def without_unneeded() -> Any:
    finder = Unneeded()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


def disent_beta_vae(encoder: nn.Module, decoder: nn.Module, images: Images, batch: int, beta: float) -> Step:
    """A step of disent's BetaVae: `training_step`, then what Lightning does with the loss it returns."""
    warnings.filterwarnings("ignore", module="disent")
    with without_unneeded():
        from disent.frameworks.vae import BetaVae
        from disent.model import AutoEncoder, DisentDecoder, DisentEncoder

    class Encoder(DisentEncoder):
        def __init__(self) -> None:
            super().__init__(x_shape=encoder.shape, z_size=encoder.latent_dim, z_multiplier=2)
            self.layers = nn.Sequential(*encoder.trunk, encoder.heads)

        def encode(self, x: Tensor) -> Tensor:
            return self.layers(x)

    class Decoder(DisentDecoder):
        def __init__(self) -> None:
            super().__init__(x_shape=encoder.shape, z_size=encoder.latent_dim, z_multiplier=1)
            self.layers = decoder.layers

        def decode(self, z: Tensor) -> Tensor:
            return self.layers(z)

    settings = {"optimizer_kwargs": {"lr": 1e-4}, "recon_loss": "bce", "loss_reduction": "mean_sum"}
    framework = BetaVae(AutoEncoder(Encoder(), Decoder()), BetaVae.cfg(beta=beta, **settings))
    framework.trainer = None
    framework.log = framework.log_dict = lambda *_, **__: None  # Lightning's, which has no logger here
    optimizer = framework.configure_optimizers()

    def step() -> object:
        loss = framework.training_step({"x_targ": (images(batch),)}, 0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return step


def pythae_networks(encoder: nn.Module, decoder: nn.Module) -> tuple[nn.Module, nn.Module]:
    """Our layers behind pythae's interfaces; its cross-entropy asks for probabilities."""
    from pythae.models.base.base_utils import ModelOutput
    from pythae.models.nn import BaseDecoder, BaseEncoder

    class Encoder(BaseEncoder):
        def __init__(self) -> None:
            super().__init__()
            self.inner = encoder

        def forward(self, x: Tensor) -> Any:
            mean, logvar = self.inner(x)
            return ModelOutput(embedding=mean, log_covariance=logvar)

    class Decoder(BaseDecoder):
        def __init__(self) -> None:
            super().__init__()
            self.inner = decoder

        def forward(self, z: Tensor) -> Any:
            return ModelOutput(reconstruction=self.inner(z).sigmoid())

    return Encoder(), Decoder()


def pythae_step(trainer: Any, images: Images, batch: int) -> Step:
    """What the trainer's `train_step` does for each batch of its loader."""
    from pythae.data.datasets import DatasetOutput

    trainer.prepare_training()
    trainer.model.train()
    labels = torch.ones(batch)

    def step() -> object:
        inputs = trainer._set_inputs_to_device(DatasetOutput(data=images(batch), labels=labels))
        output = trainer.model(inputs, epoch=1, dataset_size=batch, uses_ddp=False)
        trainer._optimizers_step(output)
        return output.loss.item()

    return step


def pythae_trainer(kind: Any, model: Any, settings: Any, images: Images, batch: int) -> Any:
    from pythae.data.datasets import BaseDataset

    logging.disable(logging.INFO)  # it prints its folder and its progress
    sample = BaseDataset(images(batch), torch.ones(batch))
    return kind(model=model, train_dataset=sample, training_config=settings)


def pythae_beta_vae(encoder: nn.Module, decoder: nn.Module, images: Images, batch: int, beta: float) -> Step:
    """A step of pythae's BetaVAE under its base trainer."""
    from pythae.models import BetaVAE, BetaVAEConfig
    from pythae.trainers import BaseTrainer, BaseTrainerConfig

    config = BetaVAEConfig(
        input_dim=encoder.shape, latent_dim=encoder.latent_dim, beta=beta, reconstruction_loss="bce"
    )
    model = BetaVAE(config, *pythae_networks(encoder, decoder))
    with tempfile.TemporaryDirectory() as folder:
        settings = BaseTrainerConfig(
            output_dir=folder, learning_rate=1e-4, optimizer_cls="Adam", per_device_train_batch_size=batch
        )
        return pythae_step(pythae_trainer(BaseTrainer, model, settings, images, batch), images, batch)


def pythae_factor_vae(
    encoder: nn.Module, decoder: nn.Module, critic: nn.Module, images: Images, batch: int, gamma: float
) -> Step:
    """A step of pythae's FactorVAE under its adversarial trainer.

    It cuts a batch in two halves, one to reconstruct and one to shuffle: it is given twice as many images.
    """
    from pythae.models import FactorVAE, FactorVAEConfig
    from pythae.models.nn import BaseDiscriminator
    from pythae.trainers import AdversarialTrainer, AdversarialTrainerConfig

    class Discriminator(BaseDiscriminator):
        def __init__(self) -> None:
            super().__init__()
            self.inner = critic

        def forward(self, z: Tensor) -> Tensor:
            return self.inner(z)

    config = FactorVAEConfig(
        input_dim=encoder.shape, latent_dim=encoder.latent_dim, gamma=gamma, reconstruction_loss="bce"
    )
    model = FactorVAE(config, *pythae_networks(encoder, decoder))
    model.set_discriminator(Discriminator())
    with tempfile.TemporaryDirectory() as folder:
        settings = AdversarialTrainerConfig(
            output_dir=folder,
            autoencoder_learning_rate=1e-4,
            discriminator_learning_rate=1e-4,
            autoencoder_optimizer_cls="Adam",
            discriminator_optimizer_cls="Adam",
            discriminator_optimizer_params={"betas": (0.5, 0.9)},
            per_device_train_batch_size=2 * batch,
        )
        trainer = pythae_trainer(AdversarialTrainer, model, settings, images, 2 * batch)
        return pythae_step(trainer, images, 2 * batch)

"""The VAE family of Locatello et al., 2019 and 2020."""

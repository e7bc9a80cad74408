"""Programs of a release, which `.github/workflows/release.yml` runs through make.

1. `make release-check`: the tag and all files name the same version (`versions`).
2. `make release-images` builds, pushes and signs the images (`published`).
3. `make release-chart` packages, pushes and signs the chart.
4. `make release-page` writes the text of the release with all digests (`notes`), and creates it.
"""

"""The arithmetic of the capacity model."""

import pytest

from gateway.redirects.resolution import ChangeFeedPage, LinkState, Resolution
from gateway.redirects.resolver import Resolver
from tests.performance import capacity
from tests.performance.capacity import cache_of, distinct, fill, plan, simulate, zipf


def test_bins_of_links_have_the_popularity_of_single_ranks() -> None:
    popularity = zipf(1_000_000, 0.8)
    assert popularity.links.sum() == 1_000_000
    assert (popularity.links * popularity.share).sum() == pytest.approx(1)
    exact = sum(rank**-0.8 for rank in range(1, 1_000_001))
    assert popularity.share[0] == pytest.approx(1 / exact, rel=0.001)
    assert distinct(popularity, 1) == pytest.approx(1, rel=0.05)
    assert distinct(popularity, 1e12) == pytest.approx(1_000_000)


@pytest.mark.parametrize(("per_second", "room"), [(20.0, 2000), (200.0, 2000), (20.0, 20_000)])
def test_the_model_of_the_cache_agrees_with_a_simulation(per_second: float, room: int) -> None:
    model = cache_of(zipf(20_000, 0.8), per_second, room)
    simulated = simulate(20_000, 0.8, per_second, room, requests=200_000)
    assert model.looked_up == pytest.approx(simulated.looked_up, abs=0.04)
    assert model.waiting == pytest.approx(simulated.waiting, abs=0.02)


def test_demand_grows_with_redirects_and_links() -> None:
    small, busy, large = (
        plan(links, rate, 0.8) for links, rate in [(10**6, 100), (10**6, 10**6), (10**9, 10**6)]
    )
    assert (small.gateways, small.links_replicas, small.analytics_replicas) == (2, 2, 2)
    # 10^6 * (17 us + 24 us for the share looked up), on cores at 50 % utilization.
    hot = 1 - busy.cache.looked_up
    assert busy.gateways == pytest.approx(2 * (17 * hot + 41 * (1 - hot)), abs=1)
    assert busy.gateways < large.gateways
    assert busy.cache.looked_up < large.cache.looked_up < 1


async def test_a_cached_link_takes_the_bytes_of_the_model() -> None:
    url = "https://example.com/".ljust(80, "x")

    class Links:
        async def resolve(self, codes: object) -> dict[str, Resolution]:
            return {"k7Qm2_xB": Resolution(LinkState.ACTIVE, url)}

        async def changes(self, cursor: str | None) -> ChangeFeedPage:
            raise NotImplementedError

    resolver = Resolver(Links(), 10_000)
    await resolver.lookup("k7Qm2_xB")
    assert resolver.cache.bytes == pytest.approx(capacity.CACHED_LINK_BYTES, abs=30)


def test_tables_take_the_places_of_older_ones() -> None:
    text = "a\n<!-- capacity: one -->\nold\n<!-- end -->\nb\n"
    assert fill(text, {"one": "new\n"}) == text.replace("old", "new")
    with pytest.raises(KeyError):
        fill(text, {})

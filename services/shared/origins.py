"""The origins at which an instance is reached."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


def parse_domain(origin: str) -> str:
    """Return the domain of an origin: its host, with its port if that is not the default."""
    return origin.partition("://")[2]


@dataclass(frozen=True)
class Origins:
    """The origin of the public URL, and further ones, as browsers write them.

    Short URLs work at all of them; everything else is at the public one.
    """

    public: str
    further: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (self.public, *self.further)

    @cached_property
    def by_domain(self) -> dict[str, str]:
        """All origins by their domain, that of the public URL first."""
        return {parse_domain(origin): origin for origin in self.all}

    def find(self, domain: str) -> str:
        """Return the origin of a domain; the public one if the domain is not listed."""
        return self.by_domain.get(domain, self.public)

    @cached_property
    def further_hosts(self) -> frozenset[bytes]:
        """The values of `Host`, in lower case, of requests to the further origins.

        A default port may be stated, and is either one: TLS may end in front.
        """
        hosts = set()
        for domain in map(parse_domain, self.further):
            hosts.add(domain)
            if ":" not in domain.rpartition("]")[2]:
                hosts |= {f"{domain}:80", f"{domain}:443"}
        return frozenset(host.encode() for host in hosts - {parse_domain(self.public)})

"""Which packages of coins the registry holds: the chance of heads, one a coin."""

from ricochet.tasks.registry.kinds import PackageKind, Reader

COIN = PackageKind(
    pattern="coin-<name>",
    prefix="coin-",
    matches=lambda name: name.startswith("coin-") and name != "coin-",
    refuse=lambda name: None,
    load_reader=lambda: Reader(lambda arrays, inputs: {"heads": arrays["chance"] * inputs["of"]}),
    made_by="ricochet train coins",
)

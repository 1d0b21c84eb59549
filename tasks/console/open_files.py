"""How many files, connections among them, this process may have open."""

import resource

MOST = 2**14


def allow() -> int:
    """Have as many files open as the machine lets a program, up to `MOST`; return how many.

    1024 are usual, which a thousand silent connections take.
    """
    now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if most == resource.RLIM_INFINITY else min(most, MOST)
    allowed = now if now == resource.RLIM_INFINITY else max(now, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, most))
    return MOST if allowed == resource.RLIM_INFINITY else allowed

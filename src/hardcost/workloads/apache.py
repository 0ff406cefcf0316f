"""The workloads `apache-prefork` and `apache-worker`: pages fetched from Apache by ApacheBench.

The server is Debian's with its configuration, its logs on, but for what `_CONFIGURATION` says: its
name, the ceiling of 256 clients at once as published, and which of its two ways to work it takes. A
page of 10 KiB is fetched, each time on a connection of its own, as `ab` does by default.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Together, Windows
from hardcost.protocol.answers import Answer
from hardcost.protocol.ask import install, run, start, stop
from hardcost.protocol.requests import Ready, Request
from hardcost.workloads import programs, server_load
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import DISTINCT, JOINED, WorkloadParameters, whole_number

PAGE_BYTES = 10240
_MOST_AT_ONCE = 255  # the most that was published
_MOST_REQUESTS = 10_000_000
_WARM_UP = 50  # requests that are not measured: each process' first costs more
_DOMAIN = "httpd_t"
_SERVICE = "apache"
_LOGS = ("/var/log/apache2/error.log",)
_PAGE = "/var/www/html/index.html"
_CONFIGURATION = "/etc/apache2/conf-enabled/hardcost.conf"
_REPORTED = re.compile(r"^([\w ]+): +(\d+)(?: bytes)?$", re.MULTILINE)
_SETTINGS = {
    "prefork": "ServerLimit 256\nMaxRequestWorkers 256\n",
    # 25 threads in each process, as Debian has it, so the nearest that there can be.
    "worker": "MaxRequestWorkers 250\n",
}
# What a2enmod and apachectl do, in a hundredth of their time.
_ENABLE = (
    "cd /etc/apache2/mods-enabled && rm -f mpm_* && for end in load conf; do"
    " ln -s ../mods-available/mpm_{mpm}.$end . || exit; done; . /etc/apache2/envvars"
    " && mkdir -p $APACHE_RUN_DIR $APACHE_LOCK_DIR && chown www-data $APACHE_LOCK_DIR"
)
_SERVE = ". /etc/apache2/envvars && exec apache2 -DFOREGROUND"


_Clients = Annotated[int, whole_number(_MOST_AT_ONCE)]


class ApacheParameters(WorkloadParameters):
    """How many requests are made, and by how many clients at once."""

    concurrency: Annotated[tuple[_Clients, ...], JOINED, DISTINCT] = Field(
        (1, 16, 64, 255),
        description="how many clients at once, joined by '+', each 1 to 255 (default:"
        " 1+16+64+255; published: 11 values from 1 to 255)",
    )
    requests: Annotated[int, whole_number(_MOST_REQUESTS)] = Field(
        500, description="how many requests at each (default: 500; published: 100000)"
    )

    @model_validator(mode="after")
    def _has_work(self) -> Self:
        server_load.check_work(self.concurrency, self.requests)
        return self


@dataclass(frozen=True)
class Apache:
    """The workload, with Apache's processes (`prefork`) or threads (`worker`)."""

    mpm: Literal["prefork", "worker"]

    def requests(self, parameters: ApacheParameters, instrument: Instrument) -> list[Request]:
        """Return the requests to the probe."""
        count = parameters.requests
        warm_up = programs.as_user("warm up", _ab(_WARM_UP, 1))
        loads = [
            programs.as_user(
                f"ab-{clients}",
                _ab(count, clients),
                instrument,
                limit_seconds=server_load.LIMIT_SECONDS,
            )
            for clients in parameters.concurrency
        ]
        return [*self._setup_requests(), warm_up, *loads, stop(_SERVICE)]

    def read_metrics(
        self,
        parameters: ApacheParameters,
        answers: Sequence[Answer],
        instrument: Instrument,
    ) -> tuple[MetricSamples, ...]:
        """Return the cost of a request at each concurrency, and of all of them.

        Raises:
            TrialError: A request was not answered, or not with the page.
        """
        server_load.check_domain(answers, _SERVICE, _DOMAIN)
        count = parameters.requests
        loads = []
        for clients in parameters.concurrency:
            name = f"ab-{clients}"
            load = programs.successful_answer(answers, name, f"ab with {clients} clients")
            check(load.stdout, count, clients)
            loads.append((name, load))
        each = [server_load.per_operation(name, instrument, count, load) for name, load in loads]
        return (*each, server_load.whole_metric("all", instrument, [load for _, load in loads]))

    def windows(
        self,
        parameters: ApacheParameters,
        answers: Sequence[Answer],
        instrument: Instrument,  # noqa: ARG002  (the interface's)
    ) -> tuple[Windows | Together, ...]:
        """Return what requests took at each concurrency, and all together."""
        names = [f"ab-{clients}" for clients in parameters.concurrency]
        return server_load.windows(answers, names, parameters.requests)

    def operations(self, parameters: ApacheParameters) -> dict[str, int]:
        """Return how many requests each program makes."""
        count = parameters.requests
        return {f"ab-{clients}": count for clients in parameters.concurrency}

    def _setup_requests(self) -> list[Request]:
        """Return the requests that configure and start the server."""
        settings = f"ServerName localhost\n{_SETTINGS[self.mpm]}"
        page = "<html><body><p>" + "A page. " * (PAGE_BYTES // len("A page. "))
        modules = _ENABLE.format(mpm=self.mpm)
        get = "GET / HTTP/1.0\r\n\r\n"
        return [
            install(_PAGE, page[:PAGE_BYTES]),
            run("set up Apache", ["sh", "-c", modules]),
            install(_CONFIGURATION, settings),
            server_load.labels(
                "/etc/apache2", "/var/www/html", "/run/apache2", "/run/lock/apache2"
            ),
            start(
                _SERVICE,
                ["sh", "-c", _SERVE],
                ready=Ready(tcp=80, send=get, expect="200 OK"),
                logs=_LOGS,
            ),
        ]


def check(said: str, requests: int, clients: int) -> None:
    """Make sure, by what ab printed, that each request was answered with the page.

    Raises:
        TrialError: One wasn't, or ab did something else than it was asked to.
    """
    expected = {
        "Concurrency Level": clients,
        "Document Length": PAGE_BYTES,
        "Complete requests": requests,
        "Failed requests": 0,
        "HTML transferred": requests * PAGE_BYTES,
    }
    wrong = server_load.find_deviations(said, _REPORTED, expected)
    wrong += [line.strip() for line in said.splitlines() if line.startswith("Non-2xx")]
    if wrong:
        raise TrialError(f"ab with {clients} clients: {', '.join(wrong)}")


def _ab(requests: int, clients: int) -> list[str]:
    return ["ab", "-q", "-n", str(requests), "-c", str(clients), "http://127.0.0.1/"]


def _kind(mpm: Literal["prefork", "worker"]) -> WorkloadKind[ApacheParameters]:
    apache, how = Apache(mpm), "process" if mpm == "prefork" else "thread"
    return WorkloadKind(
        name=f"apache-{mpm}",
        title=(
            f"a request of ab to Apache with a {how} for each client (ab-N: N clients at once), and"
            " all of them (all)"
        ),
        parameters=ApacheParameters,
        audit_note=(
            "a request's cost holds what the one processor does with audit records until all"
            " requests are answered"
        ),
        settings=(
            "Apache has Debian's configuration with its logs, a page of 10 KiB, and 256 clients at"
            " most (worker: 250)"
        ),
        guest="debian",
        packages=("apache2", "apache2-bin", "apache2-utils"),
        # Ticks fall elsewhere when a load begins later (docs/determinism.md).
        resolution=0.005,
        requests=apache.requests,
        measured=apache.read_metrics,
        windows=apache.windows,
        operations=apache.operations,
    )


PREFORK = _kind("prefork")
WORKER = _kind("worker")

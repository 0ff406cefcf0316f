"""How a search arrived at its bill, in sentences that can be checked one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.report.text import percent, visible
from hardcost.units import count

if TYPE_CHECKING:
    from hardcost.analysis.finding import Search


def search_lines(search: Search) -> list[str]:
    """Return the statement, every step with its conclusion, and the final conclusions."""
    size = count(search.configurations, "configuration")
    resolved = f"{size} measured; resolution {percent(search.resolution)} of the baseline."
    return [
        "How the culprits were found",
        visible(search.statement),
        *(f"  {visible(step)}" for step in search.steps),
        f"Conclusion: {resolved}",
        *(f"  {visible(conclusion)}" for conclusion in search.conclusions),
    ]

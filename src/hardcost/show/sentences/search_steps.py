"""How a search arrived at its bill, in sentences that can be checked one by one."""

from __future__ import annotations

from hardcost.model.finding.bill import Story
from hardcost.show.text import percent
from hardcost.units import count, visible


def search_lines(search: Story) -> list[str]:
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

"use strict";
// Sorts tables by a column, and hides the rows that lack the words of a search: not those of tables
// that are folded.

for (const table of document.querySelectorAll("table.sorted")) {
  const body = table.tBodies[0];
  const heads = [...table.tHead.rows[0].cells];
  heads.forEach((head, column) => {
    const button = head.querySelector("button");
    if (button === null) return;
    button.addEventListener("click", () => {
      const value = (row) => {
        const cell = row.cells[column];
        return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value);
      };
      const numbers = [...body.rows].every((row) => typeof value(row) === "number");
      // Numbers begin with the largest, words with A.
      const before = head.getAttribute("aria-sort");
      const descending = before === null ? numbers : before === "ascending";
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      const rows = [...body.rows].sort((one, other) => {
        const [a, b] = [value(one), value(other)];
        const order = numbers ? a - b : a.localeCompare(b);
        return descending ? -order : order;
      });
      body.append(...rows);
    });
  });
}

const search = document.querySelector("#search");
if (search !== null) {
  const found = document.querySelector("#found");
  const rows = [...document.querySelectorAll("main > .scroll tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  search.closest("[hidden]")?.removeAttribute("hidden");
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, nth) => {
      row.hidden = !words.every((word) => texts[nth].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    found.textContent = words.length ? `${shown} of ${rows.length}` : `${rows.length}`;
  });
  found.textContent = `${rows.length}`;
}

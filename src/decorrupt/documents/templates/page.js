"use strict";
// The script turns column headings into buttons: without it, tables do not look sortable.
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.querySelectorAll("thead tr.columns th")];
  const body = table.tBodies[0];
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = (cell.dataset.sort ?? cell.textContent).trim();
    return text === "" || text === "—" ? null : isFinite(text) ? Number(text) : text;
  };
  const compare = (one, other) =>
    typeof one === "number" && typeof other === "number"
      ? one - other
      : String(one).localeCompare(String(other), "en", { numeric: true });
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const way = head.getAttribute("aria-sort") === "ascending" ? -1 : 1;
      for (const other of heads) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", way === 1 ? "ascending" : "descending");
      const rows = [...body.rows].map((row) => [key(row, column), row]);
      rows.sort(([one], [other]) =>
        one === null || other === null ? (one === null) - (other === null) : way * compare(one, other));
      body.append(...rows.map(([, row]) => row));
    });
  });
}

// A link to a folded section opens it.
const unfold = () => {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const folded = target && target.closest("details");
  if (folded) folded.open = true;
};
addEventListener("hashchange", unfold);
unfold();
// Wide tables show that they scroll.
const watch = new ResizeObserver((entries) => {
  for (const { target } of entries) target.classList.toggle("scrolls", target.scrollWidth > target.clientWidth + 1);
});
for (const table of document.querySelectorAll("div.scroll")) watch.observe(table);

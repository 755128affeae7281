"use strict";
(() => {
  const board = document.getElementById("board");
  const metric = document.getElementById("metric");
  const setting = document.getElementById("setting");
  const entries = [...board.querySelectorAll("tbody.entry")];
  const headers = [...board.tHead.querySelectorAll("th")];
  let column = "overall";
  let ascending = false;

  const cell = (entry, name) => entry.querySelector(`.summary > td[data-column="${name}"]`);
  const chosen = () => metric.selectedOptions[0].dataset;
  const highIsBetter = () => chosen().better === "high";
  const shown = () => entries.filter((entry) => !entry.hidden);

  /** What a cell is sorted by: a number, a text, or null for what is unknown. */
  function value(entry, name) {
    const { kind, text, number } = cell(entry, name).dataset;
    if (kind === "text") return text;
    const raw = kind === "score" ? cell(entry, name).dataset[metric.value] : number;
    return raw === "" ? null : Number(raw);
  }

  function format(number) {
    if (number === null) return "–";
    if (chosen().digits === "hundredths") return number.toFixed(2);
    if (number !== 0 && number < 1e-3) return number.toExponential(2);
    return number.toFixed(number === 0 ? 0 : Math.max(0, 2 - Math.floor(Math.log10(number))));
  }

  /** Rows of the same instances stay together. Unknown values come last, whichever way; ties keep the order of the names. */
  function compare(first, second, name, up) {
    const counts = Number(second.dataset.count) - Number(first.dataset.count);
    if (counts !== 0) return name === "count" && up ? -counts : counts;
    const [a, b] = [value(first, name), value(second, name)];
    if (a === null || b === null) return (a === null) - (b === null);
    const order = typeof a === "string" ? a.localeCompare(b, "en") : a - b;
    if (order !== 0) return up ? order : -order;
    return Number(first.dataset.place) - Number(second.dataset.place);
  }

  const together = () => [...new Set(entries.map((entry) => entry.dataset.count))].map(
    (count) => shown().filter((entry) => entry.dataset.count === count));

  /** Ranks are places by the overall score among what is shown of the same instances; rows of equal score share one. */
  function rank(rows) {
    const order = rows.sort((a, b) => compare(a, b, "overall", !highIsBetter()));
    order.forEach((entry, place) => {
      const above = order[place - 1];
      const same = above && value(above, "overall") === value(entry, "overall");
      const own = same ? cell(above, "rank").dataset.number : String(place + 1);
      cell(entry, "rank").dataset.number = own;
      cell(entry, "rank").textContent = own;
    });
  }

  function fill(rows) {
    const scores = [...entries[0].querySelectorAll('.summary > td[data-kind="score"]')].map((td) => td.dataset.column);
    for (const name of scores) {
      const known = rows.map((entry) => value(entry, name)).filter((number) => number !== null);
      const best = highIsBetter() ? Math.max(...known) : Math.min(...known);
      for (const entry of rows) {
        const own = cell(entry, name);
        own.textContent = format(value(entry, name));
        own.classList.toggle("best", known.length > 1 && value(entry, name) === best);
      }
    }
  }

  function sort() {
    for (const entry of [...entries].sort((a, b) => compare(a, b, column, ascending))) board.append(entry);
    for (const th of headers) {
      if (th.dataset.column === column) th.setAttribute("aria-sort", ascending ? "ascending" : "descending");
      else th.removeAttribute("aria-sort");
    }
  }

  function update() {
    for (const entry of entries) entry.hidden = setting.value !== "" && entry.dataset.setting !== setting.value;
    document.getElementById("none").hidden = shown().length > 0;
    document.getElementById("caption").textContent = chosen().caption;
    for (const rows of together()) {
      fill(rows);
      rank(rows);
    }
    sort();
  }

  /** The first click puts the best, the least or the first letter on top; the next one turns it round. */
  function choose(th) {
    const { column: name, kind } = th.dataset;
    ascending = name === column ? !ascending : !(kind === "score" && highIsBetter());
    column = name;
    sort();
  }

  function fold(toggle, open) {
    toggle.setAttribute("aria-expanded", String(open));
    document.getElementById(toggle.getAttribute("aria-controls")).hidden = !open;
  }

  document.getElementById("controls").addEventListener("submit", (event) => event.preventDefault());
  if (entries.length === 0) return;
  for (const th of headers) th.firstElementChild.addEventListener("click", () => choose(th));
  for (const toggle of board.querySelectorAll(".toggle")) {
    fold(toggle, false);
    toggle.addEventListener("click", () => fold(toggle, toggle.getAttribute("aria-expanded") !== "true"));
  }
  metric.addEventListener("change", () => {
    if (headers.find((th) => th.dataset.column === column).dataset.kind === "score") ascending = !highIsBetter();
    update();
  });
  setting.addEventListener("change", update);
  update();
})();

// Filters above the scorecard's list: by paper, verdict and kind. Without this script the whole list is there.
(function () {
  const heading = document.querySelector("h1");
  if (!heading || !heading.textContent.startsWith("Scorecard")) return;
  const rows = [...document.querySelectorAll("table tbody tr")].filter((row) => /^\d+-[A-Z]+$/.test(row.cells[0].textContent.trim()));
  const list = rows.length && rows[0].closest("table");
  if (!list) return;
  const mine = rows.filter((row) => list.contains(row));
  const choices = {
    paper: (row) => row.cells[0].textContent.trim().split("-")[0].padStart(2, "0"),
    kind: (row) => (/\((experiment|theorem)\)/.exec(row.querySelector("details").textContent) || ["", "other"])[1],
    verdict: (row) => (row.querySelector(".verdict") || row).textContent.trim().slice(2),
  };
  const bar = document.createElement("p"), count = document.createElement("span"), chosen = {};
  bar.className = "filters";
  const show = () => {
    mine.forEach((row) => { row.hidden = Object.keys(choices).some((of) => chosen[of].value && choices[of](row) !== chosen[of].value); });
    count.textContent = ` ${mine.filter((row) => !row.hidden).length} of ${mine.length} claims`;
  };
  for (const of in choices) {
    const box = document.createElement("select"), values = [...new Set(mine.map(choices[of]))].sort();
    box.setAttribute("aria-label", of);
    box.append(new Option(`every ${of}`, ""), ...values.map((value) => new Option(value, value)));
    box.onchange = show;
    bar.append((chosen[of] = box), " ");
  }
  bar.append(count);
  const before = list.closest(".pst-scrollable-table-container") || list;
  before.parentNode.insertBefore(bar, before);
  show();
})();

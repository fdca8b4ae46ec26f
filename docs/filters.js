// Filters above every table of class "filtered": one for each column of words. Without this script the whole table is there.
(function () {
  for (const table of document.querySelectorAll("table.filtered")) {
    const rows = [...table.tBodies[0].rows], heads = [...table.tHead.rows[0].cells];
    const bar = document.createElement("p"), count = document.createElement("span"), chosen = [];
    bar.className = "filters";
    const show = () => {
      rows.forEach((row) => { row.hidden = chosen.some(([at, box]) => box.value && row.cells[at].textContent !== box.value); });
      count.textContent = ` ${rows.filter((row) => !row.hidden).length} of ${rows.length} rows`;
    };
    heads.forEach((head, at) => {
      const words = rows.map((row) => row.cells[at].textContent), numbers = words.every((word) => word === "" || !isNaN(word));
      if (numbers) { // a click sorts
        head.tabIndex = 0;
        head.style.cursor = "pointer";
        head.title = "sort";
        head.onclick = () => { rows.sort((a, b) => a.cells[at].textContent - b.cells[at].textContent); table.tBodies[0].append(...rows); };
        head.onkeydown = (event) => { if (event.key === "Enter") head.onclick(); };
        return;
      }
      const box = document.createElement("select");
      box.setAttribute("aria-label", head.textContent);
      box.append(new Option(`every ${head.textContent}`, ""), ...[...new Set(words)].map((word) => new Option(word, word)));
      box.onchange = show;
      chosen.push([at, box]);
      bar.append(box, " ");
    });
    bar.append(count);
    (table.closest(".wide") || table).before(bar);
    show();
  }
})();

// Filters above tables, from disk: without this script the whole table is there.
(function () {
  // A bar of one choice a name before a place: `choices` is name -> (row) => word, `what` the rows are called.
  const filter = (rows, choices, before, what) => {
    const bar = document.createElement("p"), count = document.createElement("span"), chosen = {};
    bar.className = "filters";
    const show = () => {
      rows.forEach((row) => { row.hidden = Object.keys(choices).some((of) => chosen[of].value && choices[of](row) !== chosen[of].value); });
      count.textContent = ` ${rows.filter((row) => !row.hidden).length} of ${rows.length} ${what}`;
    };
    for (const of in choices) {
      const box = document.createElement("select"), words = [...new Set(rows.map(choices[of]))].sort();
      box.setAttribute("aria-label", of);
      box.append(new Option(`every ${of}`, ""), ...words.map((word) => new Option(word, word)));
      box.onchange = show;
      bar.append((chosen[of] = box), " ");
    }
    bar.append(count);
    before.before(bar);
    show();
  };

  // The scorecard's list: by paper, verdict and kind.
  const scorecard = () => {
    const heading = document.querySelector("h1");
    if (!heading || !heading.textContent.startsWith("Scorecard")) return;
    const rows = [...document.querySelectorAll("table tbody tr")].filter((row) => /^\d+-[A-Z]+$/.test(row.cells[0].textContent.trim()));
    const list = rows.length && rows[0].closest("table");
    if (!list) return;
    const choices = {
      paper: (row) => row.cells[0].textContent.trim().split("-")[0].padStart(2, "0"),
      kind: (row) => (/\((experiment|theorem)\)/.exec(row.querySelector("details").textContent) || ["", "other"])[1],
      verdict: (row) => (row.querySelector(".verdict") || row).textContent.trim().slice(2),
    };
    filter(rows.filter((row) => list.contains(row)), choices, list.closest(".pst-scrollable-table-container") || list, "claims");
  };

  // Tables of class "filtered": by each column of words; a click on the head of a column of numbers sorts.
  const ofWords = (table) => {
    const rows = [...table.tBodies[0].rows], choices = {};
    [...table.tHead.rows[0].cells].forEach((head, at) => {
      const word = (row) => row.cells[at].textContent;
      if (!rows.every((row) => !isNaN(word(row)))) { choices[head.textContent] = word; return; }
      Object.assign(head, { tabIndex: 0, title: "sort" });
      head.style.cursor = "pointer";
      head.onclick = () => table.tBodies[0].append(...rows.sort((a, b) => word(a) - word(b)));
      head.onkeydown = (event) => { if (event.key === "Enter") head.onclick(); };
    });
    filter(rows, choices, table.closest(".wide") || table, "rows");
  };

  scorecard();
  document.querySelectorAll("table.filtered").forEach(ofWords);
})();

// Titles of pages count more than names of the API.
var Scorer = {
  objNameMatch: 2, objPartialMatch: 1, objPrio: { 0: 0, 1: 0, 2: -2 }, objPrioDefault: 0,
  title: 20, partialTitle: 12, term: 5, partialTerm: 2,
};

// Headings, and rows with an anchor (conf.py names them "Section > first cell"), that hold every word of the query come
// before all else, and lead to their place. Sphinx asks for half of a heading's letters: "Fig. 5a" finds none.
const Headings = {
  // "Figures 1 to 3" is fig 1 2 3; "1-D" and "5.2" are one word each
  words: (text) => {
    const stemmer = new Stemmer();
    const plain = text.toLowerCase()
      .replace(/\b(\d+)\.(?=\d)|\b(\d)-(?=[a-z]{1,2}\b)/g, "$1$2_")
      .replace(/\b(\d+_|)(\d+) to \1(\d+)\b/g, (_, chapter, first, last) =>
        Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => chapter + (+first + i)).join(" "));
    return splitQuery(plain).map((word) => stemmer.stemWord(word).replace(/^(fig|eq)u.*/, "$1"));
  },

  // a word that is not typed to its end is found, and 5 finds 5a, but 1 does not find 10
  begins: (word, asked) =>
    word === asked || (word.startsWith(asked)
      && (/\d$/.test(asked) ? /^[a-z]$/.test(word.slice(asked.length)) : asked.length > 2)),

  holds: (words, asked) => words.some((word) => Headings.begins(word, asked)),

  // the query as it stands, at the start or in brackets, comes first; then the shorter heading
  score: (heading, asked) => {
    const scores = [heading, ...(heading.match(/\([^)]*\)/g) || [])].map((part) => {
      const words = Headings.words(part);
      if (!asked.every((word) => Headings.holds(words, word))) return -Infinity;
      const start = words.findIndex((_, i) =>
        asked.every((word, k) => i + k < words.length && Headings.begins(words[i + k], word)));
      const place = start < 0 ? 0 : start === 0 || part[0] === "(" ? 100 : 50;
      return place + asked.length - words.length;
    });
    return Math.max(...scores);
  },

  // [page, title, anchor, description, score, file, kind] of each, the best one last
  find: (query) => {
    const { alltitles, titles, docnames, filenames } = Search._index;
    const common = new Set([...stopwords].flatMap(Headings.words));
    const words = Headings.words(query);
    const rare = words.filter((word) => !common.has(word));
    const asked = rare.length ? rare : words;
    const found = [];
    for (const [title, places] of asked.length ? Object.entries(alltitles) : []) {
      const [heading, ...around] = title.split(" > ").reverse();
      const own = Headings.words(heading);
      for (const [file, id] of places) {
        const whole = [titles[file], ...around, heading].join(" ");
        const held = asked.filter((word) => Headings.holds(own, word)).length;
        let score = Headings.score(heading, asked) - (around.length ? 75 : 0);
        if (score === -Infinity && held) // the page's title has the other words
          score = Headings.score(whole, asked) + 10 * held - 300;
        if (score > -Infinity)
          found.push([
            docnames[file], titles[file] === title ? title : `${titles[file]} > ${title}`,
            id === null ? "" : `#${id}`, null, score, filenames[file], "title",
          ]);
      }
    }
    return found.sort((a, b) => a[4] - b[4] || (a[0] < b[0] ? 1 : -1));
  },
};

if (typeof Search !== "undefined" && Search._performSearch) {
  const { _performSearch: sphinx, htmlToText } = Search;
  Search._performSearch = (query, ...terms) => {
    const found = Headings.find(query);
    const places = new Set(found.map(([page, , anchor]) => page + anchor));
    return [...sphinx(query, ...terms).filter(([page, , anchor]) => !places.has(page + anchor)), ...found];
  };
  // an anchor of a row is empty: what is shown is its row
  Search.htmlToText = (html, anchor) => {
    const page = anchor && new DOMParser().parseFromString(html, "text/html");
    const row = page && page.getElementById(decodeURIComponent(anchor.slice(1)))?.closest("tr");
    return row ? row.textContent : htmlToText(html, anchor);
  };
}

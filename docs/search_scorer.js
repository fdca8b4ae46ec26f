// Titles of pages count more than names of the API.
var Scorer = {
  objNameMatch: 2, objPartialMatch: 1, objPrio: { 0: 0, 1: 0, 2: -2 }, objPrioDefault: 0,
  title: 20, partialTitle: 12, term: 5, partialTerm: 2,
};

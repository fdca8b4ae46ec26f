// Recorded scenes: marks that kbrepro kept, each a name of the pen and what it is given, drawn frame by frame.
const recorded = (root, { panels, frames, open, key, note }) => {
  const render = () => {
    const frame = frames[time.at];
    panels.forEach((panel, i) => Charts.chart(hosts[i], panel, (pen) =>
      [...panel.under, ...frame.marks[i], ...panel.over].map(([name, ...its]) => pen[name](...its))));
    says.textContent = frame.says;
  };
  const time = Charts.clock(root, frames.length, open, (at) => frames[at].label, render);
  const row = Charts.div(root, "panes"), hosts = panels.map(() => Charts.div(row, "chart"));
  Charts.key(Charts.make("p", root), key, note);
  const says = Charts.make("p", root);
  return render;
};

// Every scene of the page that has not been started yet.
for (const root of document.querySelectorAll(".live:not([data-on])")) {
  const { scene, looks } = JSON.parse(root.querySelector("script").textContent);
  const render = scene.frames ? recorded(root, scene) : live(root, scene, looks);
  let width = 0;
  root.dataset.on = "";
  new ResizeObserver(() => { if (root.clientWidth !== width) { width = root.clientWidth; render(); } }).observe(root);
}

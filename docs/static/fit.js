// Formulas that are wider than the page shrink, to 70 % at most; wider ones scroll.
addEventListener("load", async () => {
  if (!window.MathJax?.startup) return;
  await MathJax.startup.promise;
  for (const formula of document.querySelectorAll("div.math")) {
    const ratio = formula.clientWidth / formula.scrollWidth;
    if (ratio < 1) formula.style.fontSize = `${Math.max(0.7, 0.98 * ratio)}em`;
  }
});

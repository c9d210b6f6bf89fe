(() => {
  "use strict";
  const announce = document.querySelector(".announce");
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let origin = null;

  const byToken = (name, token) => document.querySelectorAll(`[data-${name}~="${token}"]`);
  const tokens = (element, name) => (element.dataset[name] || "").split(" ").filter(Boolean);

  const clear = () => {
    for (const element of document.querySelectorAll(".on")) element.classList.remove("on");
    for (const element of document.querySelectorAll(".claimed")) element.classList.remove("claimed");
  };

  const reveal = (element) => {
    for (let box = element.closest("details"); box; box = box.parentElement.closest("details")) box.open = true;
    const behavior = calm.matches ? "auto" : "smooth";
    const pane = element.closest(".documents");
    if (pane && pane.scrollHeight > pane.clientHeight && getComputedStyle(pane).overflowY === "auto") {
      // The pane scrolls by itself beside the answer; the page moves only if too little of the pane is in sight.
      const box = pane.getBoundingClientRect();
      const top = Math.max(box.top, 0);
      const seen = Math.min(box.bottom, innerHeight) - top;
      const wanted = pane.scrollTop + element.getBoundingClientRect().top - top - seen / 3;
      pane.scrollTo({ top: wanted, behavior });
      const missing = wanted - (pane.scrollHeight - pane.clientHeight);
      if (seen < 160 || missing > seen / 2) pane.scrollIntoView({ block: "nearest", behavior });
    } else {
      const { top, bottom } = element.getBoundingClientRect();
      if (top < 0 || bottom > innerHeight) element.scrollIntoView({ block: "center", inline: "nearest", behavior });
    }
    element.focus({ preventScroll: true });
  };

  const markFinding = (id) => {
    const finding = document.getElementById(id);
    if (!finding) return null;
    finding.classList.add("on");
    for (const piece of byToken("spans", id)) piece.classList.add("on");
    return finding;
  };

  const showEvidence = (ids) => {
    for (const id of ids) for (const piece of byToken("evidence", id)) if (piece.matches("mark")) piece.classList.add("on");
    const first = ids.length ? document.querySelector(`mark[data-evidence~="${ids[0]}"]`) : null;
    if (first) reveal(first);
    return first;
  };

  const openSpan = (link) => {
    clear();
    const finding = markFinding(link.dataset.finding);
    const first = showEvidence(tokens(link, "evidence"));
    if (!first && finding) reveal(finding);
    const said = finding ? finding.querySelector(".said").textContent.replace(/\s+/g, " ") : "";
    announce.textContent = first ? `${said} Evidence: ${first.textContent}. Press Escape to go back.` : said;
  };

  const backToSpan = (link) => {
    clear();
    markFinding(link.dataset.finding);
    const piece = document.querySelector(`.span[data-finding="${link.dataset.finding}"]`);
    if (piece) reveal(piece);
  };

  const markClaim = (button) => {
    const id = button.dataset.claim;
    const again = document.getElementById(id).classList.contains("on");
    clear();
    if (again) return;
    document.getElementById(id).classList.add("on");
    const pieces = byToken("claims", id);
    for (const piece of pieces) piece.classList.add("claimed");
    if (pieces.length) pieces[0].scrollIntoView({ block: "nearest", behavior: calm.matches ? "auto" : "smooth" });
  };

  const filter = (button) => {
    for (const other of document.querySelectorAll(".filter")) other.setAttribute("aria-pressed", String(other === button));
    let shown = 0;
    for (const item of document.querySelectorAll("li[data-status], article[data-status]")) {
      item.hidden = button.dataset.status !== "" && item.dataset.status !== button.dataset.status;
      if (!item.hidden && item.matches("li")) shown += 1;
    }
    announce.textContent = `${shown} shown`;
  };

  document.addEventListener("click", (event) => {
    const target = event.target.closest(".span, .to-evidence, .back, .said-link, .claim-text, .filter, a[href^='#']");
    if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (target.matches(".filter")) return filter(target);
    if (target.matches(".claim-text")) return markClaim(target);
    if (target.matches(".span")) {
      origin = target;
      openSpan(target);
    } else if (target.matches(".to-evidence")) {
      origin = target;
      clear();
      showEvidence([target.dataset.evidence]);
    } else if (target.matches(".back")) {
      backToSpan(target);
    } else if (target.matches(".said-link")) {
      const finding = target.closest(".finding").id;
      backToSpan({ dataset: { finding } });
    } else {
      const box = document.getElementById(target.hash.slice(1));
      if (box && box.matches("details")) box.open = true;
      return;
    }
    event.preventDefault();
  });

  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    clear();
    if (origin && origin.isConnected) {
      origin.scrollIntoView({ block: "nearest" });
      origin.focus({ preventScroll: true });
      origin = null;
    }
  });

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const box of opened) box.open = true;
  });
  addEventListener("afterprint", () => {
    for (const box of opened) box.open = false;
  });
})();

"use strict";
// The pages work without this script. It adds keys, colours, copying, and new checkpoints without a reload.
(() => {
  const main = document.getElementById("main");
  const rows = () => [...main.querySelectorAll("a.step")].filter((row) => row.offsetParent);

  // choose marks a row, and gives it the focus, so that Enter opens it.
  const choose = (by) => {
    const all = rows();
    const at = all.findIndex((row) => row.classList.contains("chosen"));
    const next = all[Math.max(0, Math.min(all.length - 1, at + by))];
    if (!next) return;
    if (at >= 0) all[at].classList.remove("chosen");
    next.classList.add("chosen");
    next.focus({ preventScroll: true });
    next.scrollIntoView({ block: "nearest" });
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const chosen = main.querySelector("a.step.chosen");
    switch (event.key) {
      case "j": choose(1); break;
      case "k": choose(-1); break;
      case "/": document.getElementById("search").focus(); break;
      case "?": document.getElementById("keys").showModal(); break;
      case "d": if (chosen) location.href = "./compare?" + new URLSearchParams({ session: new URL(chosen.href).searchParams.get("session"), a: chosen.dataset.ref }); break;
      default: return;
    }
    event.preventDefault();
  });

  // colour highlights the lines of a diff, and puts the marks of changed words back over the colours.
  const colour = (file) => {
    const language = file.dataset.language;
    if (!language || !window.hljs || !hljs.getLanguage(language)) return;
    for (const code of file.querySelectorAll("tr.add .code > span, tr.del .code > span, tr.same .code > span")) {
      const mark = code.querySelector("mark");
      const begin = mark ? (mark.previousSibling?.textContent.length ?? 0) : -1;
      const end = mark ? begin + mark.textContent.length : -1;
      code.innerHTML = hljs.highlight(code.textContent, { language, ignoreIllegals: true }).value;
      if (mark) wrap(code, begin, end);
    }
  };

  // wrap marks the characters from begin to end, whatever elements they stand in.
  const wrap = (root, begin, end) => {
    const texts = [];
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let at = 0; walker.nextNode(); at += walker.currentNode.length) texts.push([walker.currentNode, at]);
    for (const [text, at] of texts) {
      const from = Math.max(begin - at, 0), to = Math.min(end - at, text.length);
      if (from >= to) continue;
      const range = document.createRange();
      range.setStart(text, from);
      range.setEnd(text, to);
      range.surroundContents(document.createElement("mark"));
    }
  };

  const dress = () => {
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) if (entry.isIntersecting) { seen.unobserve(entry.target); colour(entry.target); }
    });
    for (const file of main.querySelectorAll(".file[data-language]")) seen.observe(file);
    for (const button of main.querySelectorAll("[data-copy]")) {
      button.hidden = !navigator.clipboard;
      button.onclick = () => navigator.clipboard.writeText(button.dataset.copy).then(() => { button.textContent = "Copied"; });
    }
  };
  dress();

  if (location.protocol !== "file:" && main.querySelector(".drawing, h1") && !location.search.includes("before=") && ["", "sessions", "metrics"].includes(location.pathname.split("/").pop())) {
    // refresh takes the new page's content, and leaves the reader where they are.
    const refresh = async () => {
      const answer = await fetch(location.href);
      if (!answer.ok || document.activeElement?.matches("main input, main select")) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const chosen = main.querySelector("a.step.chosen")?.dataset.ref;
      const open = [...main.querySelectorAll("details")].map((d) => d.open);
      main.replaceChildren(...page.getElementById("main").childNodes);
      if (open.length === main.querySelectorAll("details").length) main.querySelectorAll("details").forEach((d, i) => { d.open = open[i]; });
      if (chosen) main.querySelector(`a.step[data-ref="${CSS.escape(chosen)}"]`)?.classList.add("chosen");
      dress();
    };
    new EventSource("./events").onmessage = () => refresh().catch(() => {});
  }
})();

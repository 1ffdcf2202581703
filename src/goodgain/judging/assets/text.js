// Texts of documents, with the words of the question marked, and guidelines in Markdown. Text becomes text
// nodes only, so nothing in it can be markup or code.
"use strict";

// Those that could hide or reorder text. Joiners and direction marks are part of many languages' spelling.
const BODY_CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2060-\u206f\ufff9-\ufffb]/g;
const DIACRITICS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0670]/g;
const WITHOUT_SPACES = "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const UNSPACED = new RegExp(`[${WITHOUT_SPACES}\\u30fc]+`, "gu");
const WORD = /[\p{L}\p{N}\p{M}]+/gu;
const COMMON = new Set(("a an and are as at be by can could did do does for from had has have how i if in is it its me my no not of on or " +
  "our should so than that the their there these they this to was we were what when where which who why will with would you your").split(" "));

function fold(text) {
  return text.normalize("NFKD").replace(DIACRITICS, "").normalize("NFC").toLowerCase();
}

// The words to mark: those of scripts with spaces between words, and pieces of the others.
function wordsOf(question) {
  const folded = fold(question);
  const pieces = new Set();
  for (const [stretch] of folded.matchAll(UNSPACED)) {
    let segments = [stretch];
    if (Intl.Segmenter) segments = [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(stretch)].filter((s) => s.isWordLike).map((s) => s.segment);
    else if (stretch.length > 2) segments = [...stretch.slice(1)].map((_, i) => stretch.slice(i, i + 2));
    for (const segment of segments) if (!/^[\p{Script=Hiragana}]{1,2}$/u.test(segment)) pieces.add(segment);
  }
  const all = [...folded.replace(UNSPACED, " ").matchAll(WORD)].map(([word]) => word);
  const rare = all.filter((word) => !COMMON.has(word) && (word.length > 1 || !/[a-z]/.test(word)));
  return { words: [...new Set(rare.length || pieces.size ? rare : all)], pieces: [...pieces] };
}

const stem = (word) => (/^\u0627\u0644.{3}/.test(word) ? word.slice(2) : word); // the Arabic article

// Equal, or one begins with the other: "key" and "keys".
function alike(a, b) {
  if (a === b) return true;
  const [short, long] = a.length < b.length ? [stem(a), stem(b)] : [stem(b), stem(a)];
  const least = /[\p{Script=Hangul}]/u.test(short) ? 2 : 3;
  return short.length >= least && long.length - short.length <= 2 && long.startsWith(short);
}

// [start, end) of everything in a line that is to be marked, in order, without overlaps.
function marks(line, terms) {
  let folded = "";
  const places = []; // of each unit of the folded text in the line
  for (let i = 0; i < line.length; ) {
    const character = String.fromCodePoint(line.codePointAt(i));
    const unit = fold(character);
    for (let k = 0; k < unit.length; ++k) places.push(i);
    folded += unit;
    i += character.length;
  }
  places.push(line.length);
  const ranges = [];
  for (const match of folded.matchAll(WORD)) {
    if (terms.words.some((word) => alike(word, match[0]))) ranges.push([match.index, match.index + match[0].length]);
  }
  for (const piece of terms.pieces) {
    for (let at = folded.indexOf(piece); at >= 0; at = folded.indexOf(piece, at + piece.length)) ranges.push([at, at + piece.length]);
  }
  ranges.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const merged = [];
  for (const [start, end] of ranges) {
    const last = merged[merged.length - 1];
    if (last && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged.map(([start, end]) => [places[start], places[end]]);
}

// A text line by line, each in its own direction.
function bodyText(text, terms = { words: [], pieces: [] }) {
  const box = element("div", { class: "body" });
  for (const line of text.split(/\r\n|\n|\r/)) {
    const row = element("div", { dir: "auto", class: line.trim() ? "line" : "line blank" });
    let last = 0;
    for (const [start, end] of marks(line, terms)) {
      appendText(row, line.slice(last, start), BODY_CONTROLS);
      row.append(appendText(element("mark"), line.slice(start, end), BODY_CONTROLS));
      last = end;
    }
    box.append(appendText(row, line.slice(last), BODY_CONTROLS));
  }
  return box;
}

// --- guidelines: headings, lists, paragraphs, code, bold, emphasis and web links ---

const INLINE = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*\s][^*]*)\*|\[([^\]]+)\]\(([^)\s]+)\)/g;

function inline(text) {
  const nodes = [];
  let last = 0;
  for (const match of text.matchAll(INLINE)) {
    nodes.push(document.createTextNode(text.slice(last, match.index)));
    const [, code, bold, emphasis, label, address] = match;
    if (code) nodes.push(element("code", {}, code));
    else if (bold) nodes.push(element("strong", {}, bold));
    else if (emphasis) nodes.push(element("em", {}, emphasis));
    else nodes.push(webLink(address, label));
    last = match.index + match[0].length;
  }
  nodes.push(document.createTextNode(text.slice(last)));
  return nodes;
}

function markdown(text) {
  const box = element("div", { class: "markdown", dir: "auto" });
  let lines = null; // of the block that is open: a paragraph or a list
  let code = null;
  for (const line of text.replace(BODY_CONTROLS, "\ufffd").split("\n")) {
    if (line.startsWith("```")) {
      code = code ? null : box.appendChild(element("pre", { tabindex: "0" }));
      lines = null;
      continue;
    }
    if (code) {
      code.append(line + "\n");
      continue;
    }
    const heading = /^(#{1,6})\s+(.*)$/.exec(line);
    const bullet = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/.exec(line);
    if (!line.trim()) lines = null;
    else if (heading) {
      box.append(element(heading[1].length === 1 ? "h3" : "h4", {}, inline(heading[2])));
      lines = null;
    } else if (bullet) {
      const tag = bullet[1] ? "OL" : "UL";
      if (!lines || lines.tagName !== tag) lines = box.appendChild(element(tag, bullet[1] ? { start: bullet[1] } : {}));
      lines.append(element("li", {}, inline(bullet[2])));
    } else if (lines && lines.tagName !== "P") {
      lines.lastElementChild.append(" ", ...inline(line.trim()));
    } else {
      if (lines) lines.append(" ");
      else lines = box.appendChild(element("p"));
      lines.append(...inline(line));
    }
  }
  return box;
}

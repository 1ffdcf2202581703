// Elements and texts. User text becomes a text node, never markup.

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
  return node;
}

// Characters that hide, move the cursor or change the text direction. Joiners are part of the spelling of many scripts (after
// a letter or sign of theirs) and of emoji (between two of them), and are kept there; as errors.plain does.
const JOINING = "\\u0600-\\u109f\\u1780-\\u18af\\u1900-\\u1cff\\ua800-\\uabff\\ufb50-\\ufdff\\ufe70-\\ufefc\\u{10a00}-\\u{10aff}\\u{10d00}-\\u{10fff}\\u{11000}-\\u{11fff}";
const EMOJI = "\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2190-\\u21ff\\u2300-\\u23ff\\u25a0-\\u27bf\\u2900-\\u297f\\u2b00-\\u2bff\\u{1f000}-\\u{1faff}";
const SPELLING = `(?<=[${JOINING}])[\\u200c\\u200d](?![\\u200c\\u200d])|(?<=[${EMOJI}\\ufe0f])\\u200d(?=[${EMOJI}])`;
const HIDDEN = "[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]";
const CONTROLS = new RegExp(`(?!${SPELLING})${HIDDEN}`, "u");
const ALL_CONTROLS = new RegExp(CONTROLS.source, "gu");
const TEXT_CONTROLS = new RegExp(`(?![\\n\\t])${CONTROLS.source}`, "gu"); // of texts in several lines

function escaped(character) {
  const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[character];
  const code = character.codePointAt(0).toString(16);
  return short || (code.length < 3 ? "\\x" + code.padStart(2, "0") : code.length < 5 ? "\\u" + code.padStart(4, "0") : "\\U" + code.padStart(8, "0"));
}

// Escape control characters, as errors.plain does.
function plain(text) {
  return CONTROLS.test(text) ? text.replace(ALL_CONTROLS, escaped) : text;
}

// Text whose control characters are visible, appended to a node.
function appendText(box, text, controls = ALL_CONTROLS) {
  let last = 0;
  for (const match of text.matchAll(controls)) {
    box.append(text.slice(last, match.index), element("span", { class: "control" }, escaped(match[0])));
    last = match.index + match[0].length;
  }
  box.append(text.slice(last));
  return box;
}

// User text, isolated from the direction of the text around it.
function userText(text) {
  return appendText(element("bdi", { class: /\S{33}/.test(text) && "long" }), text);
}

// A link if the address is an HTTP URL, otherwise only the text.
function webLink(address, text) {
  let url = null;
  try {
    url = new URL(address);
  } catch {
    return userText(text);
  }
  if (url.protocol !== "https:" && url.protocol !== "http:") return userText(text);
  return element("a", { href: url.href, rel: "noopener noreferrer", target: "_blank" }, userText(text));
}

// A formatted number: undefined is a dash, and nothing is rounded to a false 0 or 1.
function number(value, digits = 4, signed = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (Math.abs(value) < 1e-12) value = 0; // rounding error
  if (digits === 0) return (signed && value > 0 ? "+" : "") + value.toLocaleString("en-US", { maximumFractionDigits: 0 });
  if (signed && value === 0) return "0";
  let text = value.toFixed(digits);
  if (Number(text) === 0 && value !== 0) text = Number(value.toFixed(4)) === 0 ? value.toExponential(1) : value.toFixed(4);
  else if (Number(text) === 1 && value < 1) text = (1 - 10 ** -digits).toFixed(digits);
  return (signed && value > 0 ? "+" : "") + text;
}

function seconds(value) {
  return value < 0.1 ? `${number(value * 1000, value < 0.01 ? 1 : 0)} ms` : `${number(value, 2)} s`;
}

// Decimals that show three digits of numbers of this size: 0.614, 12.35, 1,234.
function decimals(...values) {
  const largest = Math.max(0, ...values.map(Math.abs).filter((v) => !Number.isNaN(v)));
  return largest < 10 ? 3 : largest < 100 ? 2 : largest < 1000 ? 1 : 0;
}

// A number with its unit, as people write it: 48 ms, 1.25 s, $0.0031, 1,234 tokens.
function amount(value, unit, signed = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const sign = value < 0 ? "-" : signed && value > 0 ? "+" : "";
  const size = Math.abs(value);
  const digits = (v) => (v === 0 ? "0" : v < 0.01 ? String(Number(v.toPrecision(2)))
    : v.toLocaleString("en-US", { minimumFractionDigits: Math.max(0, decimals(v) - (v >= 1 ? 1 : 0)), maximumFractionDigits: Math.max(0, decimals(v) - (v >= 1 ? 1 : 0)) }));
  const scale = { us: 1e-6, ms: 1e-3, s: 1, min: 60 }[unit];
  if (scale) {
    const s = scale * size;
    return sign + (s && s < 0.001 ? `${digits(1000 * s)} ms` : s < 0.01 ? `${(1000 * s).toFixed(1)} ms` : s < 1 ? `${(1000 * s).toFixed(0)} ms` : `${digits(s)} s`);
  }
  const currency = { usd: "$", eur: "€", gbp: "£" }[unit];
  if (currency) return sign + currency + digits(size);
  return sign + digits(size) + (unit && unit !== "cost" ? ` ${unit}` : "");
}

function counted(count, one, several = one + "s") {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : several}`;
}

// A JSON data block of the page, parsed on first use.
const blocks = new Map();
function block(key) {
  if (!blocks.has(key)) blocks.set(key, JSON.parse(document.getElementById("data-" + key).textContent));
  return blocks.get(key);
}

// Unpack numbers from the base64 bytes of a typed array.
const ARRAYS = { f64: Float64Array, f32: Float32Array, u32: Uint32Array, u16: Uint16Array };
function numbers(packed) {
  const [[kind, text]] = Object.entries(packed);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; ++i) bytes[i] = raw.charCodeAt(i);
  return new ARRAYS[kind](bytes.buffer);
}

function download(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

// Interactive elements: widgets[name](options, box).
const widgets = {};

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

/** A page of figures with plots. */
export interface Frame {
  readonly title: string;
  /** HTML. */
  readonly body: string;
  /** What the script reads of the element "report", as JSON. */
  readonly data: unknown;
  /** Draws with drawing.js, which is there before it. */
  readonly script: string;
}

/** Frames one page. It loads nothing from elsewhere. */
export function frameOf({ title, body, data, script }: Frame): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>${text(title)}</title>
<style>${fileOfUplot("uPlot.min.css")}
${fileBeside("page.css")}</style>
</head>
<body>
${body}
<script type="application/json" id="report">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
<script>${fileOfUplot("uPlot.iife.min.js")}</script>
<script>${fileBeside("drawing.js")}</script>
<script>${script}</script>
</body>
</html>
`;
}

/** A table of texts; the first column names the rows. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], style = "figures"): string {
  const row = (values: readonly string[], tag: "th" | "td"): string =>
    `<tr>${values.map((value) => `<${tag}>${text(value)}</${tag}>`).join("")}</tr>`;
  return `<div class="scroll"><table class="${style}">${row(head, "th")}${rows.map((one) => row(one, "td")).join("")}</table></div>`;
}

/** A text as HTML shows it. */
export function text(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

const fileBeside = (name: string): string => readFileSync(new URL(name, import.meta.url), "utf8");
const { resolve } = createRequire(import.meta.url);
const fileOfUplot = (name: string): string => readFileSync(resolve(`uplot/dist/${name}`), "utf8");

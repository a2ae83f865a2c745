// Many MCP servers refuse arguments with the list of issues of their validator (zod), as JSON in the middle of a sentence.

/** Issues that are said, and characters of each. */
const MAX_ISSUES = 10;
const MAX_ISSUE = 200;

interface Issue {
  readonly path?: readonly (string | number)[];
  readonly message: string;
}

/** A text in which a validator's issues, if it has any, are a plain sentence: `a.b: Expected number, received string`. */
export function plainIssues(text: string): string {
  const from = text.search(/\[\s*\{\s*"/);
  const to = text.lastIndexOf("]") + 1;
  if (from < 0 || to <= from) return text;
  const issues = issuesIn(text.slice(from, to));
  if (issues === undefined) return text;
  const said = issues.slice(0, MAX_ISSUES).map(({ path = [], message }) => {
    const where = path
      .map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`))
      .join("");
    return (where === "" ? message : `${where}: ${message}`).slice(0, MAX_ISSUE);
  });
  const more = issues.length > MAX_ISSUES ? `; and ${issues.length - MAX_ISSUES} more` : "";
  return `${text.slice(0, from)}${said.join("; ")}${more}${text.slice(to)}`.trim();
}

function issuesIn(text: string): readonly Issue[] | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  return Array.isArray(parsed) && parsed.length > 0 && parsed.every(isIssue) ? parsed : undefined;
}

function isIssue(value: unknown): value is Issue {
  if (typeof value !== "object" || value === null) return false;
  const { code, path, message } = value as { code?: unknown; path?: unknown; message?: unknown };
  const isPath = Array.isArray(path) && path.every((part) => typeof part === "string" || typeof part === "number");
  return typeof message === "string" && typeof code === "string" && (path === undefined || isPath);
}

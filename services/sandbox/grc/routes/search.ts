import type { Kind, View } from "../kinds/kind.js";
import { ok, type Reply } from "../replies.js";
import type { Row } from "../world.js";

/** Hits are cut at this many, without a next page. */
const MAX_HITS = 50;
const SEARCHED = [
  "folders",
  "perimeters",
  "frameworks",
  "threats",
  "reference-controls",
  "risk-matrices",
  "requirement-nodes",
  "assets",
  "applied-controls",
  "evidences",
  "risk-assessments",
  "risk-scenarios",
  "compliance-assessments",
];

/** Answers GET /api/search/: approximate matches over many kinds, each with its folder's name only. */
export function searchAll(query: URLSearchParams, kinds: ReadonlyMap<string, Kind>, view: View): Reply {
  const text = (query.get("q") ?? "").trim().slice(0, 200);
  if (text.length < 2) return ok({ results: [], query: "", count: 0, total_candidates: 0 });
  const types = query.get("type");
  const wanted = SEARCHED.filter((path) => types === null || types === "" || types.split(",").includes(path));
  const words = text.toLowerCase().split(/\s+/).slice(0, 20);
  const candidates = wanted.flatMap((path) =>
    view.world
      .all(path)
      .filter((row) => view.sees(kinds.get(path)!.path, row) && isCandidate(row, words))
      .map((row) => hitOf(path, row, text.toLowerCase(), words, view)),
  );
  candidates.sort((a, b) => b.score - a.score);
  const results = candidates.slice(0, MAX_HITS);
  return ok({ results, query: text, count: results.length, total_candidates: candidates.length });
}

const lower = (value: unknown) => String(value ?? "").toLowerCase();

function isCandidate(row: Row, words: readonly string[]): boolean {
  const all = `${lower(row.name)} ${lower(row.description)} ${lower(row.ref_id)}`;
  const titles = `${lower(row.name)} ${lower(row.ref_id)}`;
  // The first three letters are enough, for words that are misspelt.
  return words.some((word) => all.includes(word) || (word.length >= 3 && titles.includes(word.slice(0, 3))));
}

function hitOf(path: string, row: Row, text: string, words: readonly string[], view: View) {
  const name = lower(row.name);
  const found = words.filter((word) => `${name} ${lower(row.ref_id)} ${lower(row.description)}`.includes(word));
  const share = (found.length / words.length) * 85;
  const exact = name.startsWith(text) || lower(row.ref_id).includes(text) ? 95 : name.includes(text) ? 90 : 0;
  const framework = typeof row.framework === "string" && path === "requirement-nodes" ? row.framework : null;
  return {
    type: path,
    id: row.id,
    name: row.name ?? "",
    ref_id: String(row.ref_id ?? ""),
    description: String(row.description ?? "").slice(0, 200),
    folder: view.world.get("folders", row.folder)?.name ?? "",
    provider: "",
    framework_id: framework,
    score: Math.max(exact, share, 30),
    url: framework === null ? `/${path}/${row.id}` : `/frameworks/${framework}`,
  };
}

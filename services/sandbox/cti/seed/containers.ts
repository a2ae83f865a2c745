import type { Graph } from "../graph.js";
import type { Thing } from "../thing.js";
import { THEMES } from "./names.js";
import { SECTORS } from "./places.js";
import { later, range, type Source } from "./source.js";

/** What containers are filled with. */
export interface Contents {
  readonly sets: readonly Thing[];
  readonly malware: readonly Thing[];
  /** Everything that may stand in one. */
  readonly pool: readonly Thing[];
}

/** Fills in reports, cases, notes and the other containers. */
export function seedContainers(graph: Graph, source: Source, { sets, malware, pool }: Contents): void {
  const { make, pick, some, int, chance, day } = source;
  const hold = (count: number) => ({ refs: { objects: some(pool, count).map(({ id }) => id) } });
  const reports = range(260, (n) => {
    const set = pick(sets);
    const sector = pick(SECTORS);
    const name = `${String(set.attributes.name)}: ${pick(THEMES)} ${sector.toLowerCase()} (${n + 1})`;
    const links = graph.relationsOf(set.id).slice(0, int(2, 8));
    const ends = links.map(({ ends }) => (ends!.from === set.id ? ends!.to : ends!.from));
    const objects = [
      ...new Set([set.id, ...links.map(({ id }) => id), ...ends, ...some(pool, int(3, 14)).map(({ id }) => id)]),
    ];
    return make(
      "Report",
      {
        name,
        published: day(500),
        description: `Known activity of ${String(set.attributes.name)} in the ${sector.toLowerCase()} sector.`,
        report_types: [pick(["threat-report", "internal-report"])],
        ...(chance(40) && { content: `<h1>${name}</h1><p>Summary of findings.</p>` }),
      },
      { refs: { objects } },
    );
  });
  range(20, (n) =>
    make(
      "Grouping",
      { name: `Grouping ${n}`, context: "suspicious-activity", description: "Related findings." },
      hold(6),
    ),
  );
  const cases = range(24, (n) =>
    make(
      "Case-Incident",
      {
        name: `Incident response ${n}`,
        severity: pick(["low", "medium", "high", "critical"]),
        priority: pick(["P1", "P2", "P3"]),
        description: "Response in progress.",
        response_types: ["ransomware"],
      },
      hold(5),
    ),
  );
  range(12, (n) =>
    make(
      "Case-Rfi",
      { name: `Request for information ${n}`, severity: "low", priority: "P3", description: "Asked by a customer." },
      hold(3),
    ),
  );
  range(6, (n) => make("Case-Rft", { name: `Request for takedown ${n}`, severity: "medium", priority: "P2" }, hold(2)));
  range(4, (n) => make("Feedback", { name: `Feedback ${n}`, rating: 4 }, hold(1)));
  range(30, (n) =>
    make(
      "Task",
      { name: `Task ${n}`, description: "To be done.", due_date: later(day(10), 40) },
      { refs: { objects: [pick(cases).id] } },
    ),
  );
  range(140, (n) =>
    make(
      "Note",
      { attribute_abstract: `Note ${n}`, content: `Analyst's note ${n}: seen again.`, note_types: ["analysis"] },
      { refs: { objects: [pick([...sets, ...malware, ...reports]).id] } },
    ),
  );
  range(10, () =>
    make("Opinion", { opinion: pick(["agree", "neutral", "disagree"]), explanation: "Own telemetry." }, hold(1)),
  );
  range(5, (n) =>
    make("Observed-Data", { first_observed: day(50), last_observed: day(5), number_observed: n + 1 }, hold(2)),
  );
}

// npm run -s measure:found: the share of questions whose tool is among the first five
// that a search by words finds, in indexes of both kinds: of one server's tools, of all
// servers', and of those and other vendors' tools. --missed lists the other questions, but
// not those that are held out.

import { SERVERS } from "../../services/shared/platforms.js";
import { readImage } from "../../services/shared/tools/image.js";
import type { Names } from "../../services/shared/tools/tool-words.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { type Described, NAMES, searchIn } from "../support/tool-index.js";
import { foreignTools } from "./foreign.js";
import { type Asked, questionsOf, SETS } from "./questions.js";

const FIRST = 5;
const TOOLS = readTools(readImage());

/** The tools that are searched for what is asked of a server. */
const SCOPES: Readonly<Record<string, (server: string) => readonly Described[]>> = {
  "one server": (server) => TOOLS.filter((tool) => tool.server === server),
  "all four": () => TOOLS,
  "+ foreign": () => WITH_FOREIGN,
};
const WITH_FOREIGN: readonly Described[] = [...TOOLS, ...foreignTools()];

const ALL = SETS.flatMap(questionsOf);
const unknown = ALL.flatMap(({ server, tools }) =>
  tools.filter((name) => !TOOLS.some((tool) => tool.server === server && tool.name === name)),
);
if (unknown.length > 0) throw new Error(`no such tools: ${[...new Set(unknown)].join(", ")}; correct test/found`);

/** The questions that are not answered among the first five of these tools. */
function missedOf(questions: readonly Asked[], tools: readonly Described[], names: Names): Asked[] {
  const search = searchIn(tools, names);
  return questions.filter(({ query, server, tools: wanted }) => {
    const first = search(query).slice(0, FIRST);
    return !first.some((tool) => tool.server === server && wanted.includes(tool.name));
  });
}

const out = (line: string): void => void process.stdout.write(`${line}\n`);
for (const set of SETS) {
  const asked = questionsOf(set);
  out(`${set}: share of ${asked.length} questions answered among the first ${FIRST}, in %`);
  out(["asked by    tools of    names ", ...SERVERS].join("  "));
  for (const by of ["model", "person"] as const) {
    for (const [scope, toolsFor] of Object.entries(SCOPES)) {
      for (const names of NAMES) {
        const cells = SERVERS.map((server) => {
          const questions = asked.filter((one) => one.by === by && one.server === server);
          const missed = missedOf(questions, toolsFor(server), names);
          if (process.argv.includes("--missed") && set !== "held-out")
            for (const { query, tools } of missed) out(`  not found on ${server}: ${query} (${tools.join(", ")})`);
          return String(Math.round(100 - (100 * missed.length) / questions.length)).padStart(server.length);
        });
        out([by.padEnd(10), scope.padEnd(10), names.padEnd(6), ...cells].join("  "));
      }
    }
  }
}

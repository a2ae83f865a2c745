import { type Caller, rowsIn } from "./caller.js";
import { type Finding, tryEdges } from "./edges.js";
import { tryList } from "./lists.js";
import { creates, tryRace } from "./races.js";

/**
 * Asks the tools of a server, one after the other.
 *
 * @param parts of lists, edges, writes and races: edges are those of tools that read, unless writes are named too.
 * @param tell hears of each call that somebody must look at.
 * @returns how many calls that were.
 */
export async function ask(
  caller: Caller,
  only: RegExp,
  parts: string,
  tell: (finding: Finding) => unknown,
): Promise<number> {
  let calls = 0;
  for (const shown of caller.tools.filter(({ name }) => only.test(name))) {
    const isAsked = shown.annotations.readOnlyHint === true || parts.includes("writes");
    const done = [
      ...(parts.includes("lists") && rowsIn(shown) !== undefined ? [await tryList(caller, shown)] : []),
      ...(parts.includes("edges") && isAsked ? [await tryEdges(caller, shown)] : []),
      ...(parts.includes("races") && creates(shown) ? [await tryRace(caller, shown)] : []),
    ];
    for (const one of done) {
      calls += one.calls;
      for (const finding of one.findings) tell(finding);
    }
  }
  return calls;
}

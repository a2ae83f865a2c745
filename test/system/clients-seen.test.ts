import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { titleOf } from "../hosts/behaviour.js";
import { HOSTS } from "../hosts/hosts.js";
import { listsOf } from "../hosts/lists.js";
import { PAGE } from "../hosts/page.js";
import { startProgram, untilPlatformsAnswer } from "../support/program.js";

// The clients take 2 GB of disk, so nobody runs them here: the page says what it was
// written with, and that must still be so.

const AGAIN = "write the page again: npm run -s clients:table";
/** How far a list may be from the page: a tool more does not need another run of the clients. */
const MOST_AWAY = 0.05;

const page = readFileSync(join(import.meta.dirname, "../..", PAGE), "utf8");

test("the page has the versions of the clients that the script installs", () => {
  for (const host of HOSTS) expect(page, AGAIN).toContain(`| ${titleOf(host)} |`);
});

test("the page has the lists that the example analyst has now", async () => {
  const program = await startProgram();
  try {
    await untilPlatformsAnswer(program);
    for (const { server, tools, bytes } of await listsOf({ ...program, key: program.bootstrap.analyst.api_key })) {
      const [, shownTools, shownBytes] =
        new RegExp(`^\\| ${server} \\| (\\d+) \\| ([\\d,]+) \\|$`, "m").exec(page) ?? [];
      expect(awayFrom(tools, shownTools), `tools of ${server}; ${AGAIN}`).toBeLessThan(MOST_AWAY);
      expect(awayFrom(bytes, shownBytes), `bytes of ${server}; ${AGAIN}`).toBeLessThan(MOST_AWAY);
    }
  } finally {
    await program.stop();
  }
});

/** How far a figure of the page is from today's, as a share of it. */
function awayFrom(now: number, shown = ""): number {
  return Math.abs(Number(shown.replaceAll(",", "")) - now) / now;
}

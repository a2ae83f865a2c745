import { pino } from "pino";
import { expect, test } from "vitest";
import { chooseEdge, loadEdge, whyNotLoaded } from "../../../facade/http/edges.js";
import { silentLog } from "../../../services/shared/process/log.js";

const NODE = process.versions.node;
const hasUws = await loadEdge("uws").then(
  () => true,
  () => false,
);

test.each([
  [
    "Error: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x/uws_linux_x64_127.node)",
    `the µWebSockets.js binary for Node ${NODE} needs glibc 2.38, and this system has an older one`,
  ],
  [
    "Error: Cannot find module './uws_linux_x64_147.node'\nRequire stack:\n- /x/uws.js",
    `µWebSockets.js has no binary for Node ${NODE} on ${process.platform}-${process.arch}`,
  ],
  ["Error: it is broken", "µWebSockets.js does not load (Error: it is broken)"],
])("why it does not load is told in one line: %s", (cause, why) => {
  const message = `This version of uWS.js supports only Node.js versions 16 on (glibc) Linux.\n\n${cause}`;
  expect(whyNotLoaded(new Error(message))).toBe(why);
});

test("the edge that is named serves", async () => {
  expect(await chooseEdge("node", silentLog, { shares: false })).toBe("node");
  const uws = chooseEdge("uws", silentLog, { shares: true });
  if (hasUws) expect(await uws).toBe("uws");
  else await expect(uws).rejects.toThrow(/^EDGE=uws cannot be used: .*$/);
});

test("where none is named it is µWebSockets.js where it loads, else that of Node, with a line that says why", async () => {
  const lines: string[] = [];
  const log = pino({ base: null }, { write: (line) => void lines.push(line) });
  expect(await chooseEdge(undefined, log, { shares: false })).toBe(hasUws ? "uws" : "node");
  expect(lines.map((line) => JSON.parse(line).edge)).toEqual(hasUws ? [] : ["node"]);
});

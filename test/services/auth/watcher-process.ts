import { createCredentials } from "../../../services/shared/credentials/credentials.js";
import type { Known } from "../../../services/shared/credentials/known.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { connectRemote } from "../../../services/shared/rpc/remote.js";

// A process that accepts credentials as a façade does: it presents the token it
// was given over and over and remembers when the last accepted one began.

/** What the process is told. */
export type Order = { readonly present: string } | { readonly hold: true } | { readonly report: true };

/** What the process has seen. Moments are nanoseconds of the machine's monotonic clock. */
export interface Report {
  readonly accepted: number;
  readonly lastAcceptedBegan: string;
  readonly lastOutcome: string;
  readonly leased: boolean;
  readonly held: "none" | "open" | "killed";
}

const [addresses, serviceKey] = process.argv.slice(2) as [string, string];
const credentials = createCredentials({
  dispatch: connectRemote({ auth: addresses.split(",") }),
  credential: { authorization: `Bearer ${serviceKey}` },
  log: silentLog,
});
let token = "";
let accepted = 0;
let lastAcceptedBegan = 0n;
let lastOutcome = "";
let last: Known | undefined;
let held: Report["held"] = "none";

async function present(): Promise<void> {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (token === "") continue;
    const mine = token;
    const began = process.hrtime.bigint();
    const answer = credentials.peek(mine) ?? (await credentials.verify(mine));
    if (mine !== token) continue;
    if ("refused" in answer) lastOutcome = answer.refused;
    else {
      last = answer;
      accepted++;
      lastAcceptedBegan = began;
      lastOutcome = "accepted";
    }
  }
}
void present();

process.on("message", (order: Order) => {
  if ("present" in order) {
    token = order.present;
    accepted = 0;
    lastOutcome = "";
    held = "none";
  } else if ("hold" in order && last !== undefined) {
    held = "open";
    credentials.hold(last, () => {
      held = "killed";
    });
  }
  const report: Report = {
    accepted,
    lastAcceptedBegan: String(lastAcceptedBegan),
    lastOutcome,
    leased: credentials.leased(),
    held,
  };
  process.send?.(report);
});
process.on("disconnect", () => process.exit());
